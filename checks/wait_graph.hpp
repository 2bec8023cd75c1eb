// Who waits for whom: ranks and the operations they are blocked in, followed to what nobody else's absence explains.
//
// A rank that is blocked in an operation waits for the members that have not called it, or, when all have, for those
// that are themselves blocked in something else. What has no way on is a root: a rank that is in no collective, an
// operation that all its ranks have joined and that does not end, or a circle of ranks that wait for each other.
// Tensor-, pipeline- and data-parallel groups need no order given beforehand: it comes out of the graph.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "checks/group_fronts.hpp"
#include "checks/subject.hpp"
#include "reader/collectives.hpp"

namespace plumbline::checks {

enum class Standing : std::uint8_t {
  kAbsent,    // has a trace, and never made the call
  kWaiting,   // made the call, and nothing shows that it ended
  kFinished,  // made the call, and it ended well
  kFailed,    // made the call, and it ended with an error, or the call itself raised
  kNoTrace,   // nothing is known of this rank
};

struct Party {
  std::int32_t rank = -1;  // global
  Standing standing = Standing::kNoTrace;
  std::size_t trace = 0;                     // index in Run::traces(), unless kNoTrace
  const reader::Collective* call = nullptr;  // where it is at hand: of one that waits or failed
};

// An operation that some rank is blocked in.
struct OpenOp {
  std::size_t front = 0;  // index of its group
  std::uint64_t seq = 0;  // of a point-to-point call: among those of the two ranks with this tag
  bool point_to_point = false;
  std::vector<Party> parties;  // in group order; of a point-to-point call: sender, receiver
  std::int64_t since_ns = 0;   // the first of the blocked ranks called, on the run's clock

  std::vector<const Party*> with(Standing standing) const;
  // A call of it, to name it by; null when it is known by its number only.
  const reader::Collective* example() const;
};

enum class RootKind : std::uint8_t {
  kAbsent,  // ranks that have not joined, and that no operation holds
  kOpen,    // an operation that all its ranks have joined
  kCircle,  // ranks that wait for each other
};

struct Root {
  RootKind kind = RootKind::kAbsent;
  std::size_t op = 0;                  // that the ranks are missing in, or that stays open; one of a circle
  std::vector<std::size_t> ops;        // of a circle: all of them
  std::vector<std::int32_t> ranks;     // absent, or in the circle
  std::vector<std::int32_t> affected;  // all that wait for them in the end
};

class WaitGraph {
 public:
  WaitGraph(const Subject& subject, Attempt attempt, const std::vector<GroupFront>& fronts);

  const std::vector<OpenOp>& ops() const { return ops_; }
  std::size_t rank_count() const { return nodes_.size(); }
  // That a rank is blocked in; null: none.
  const OpenOp* blocked_in(std::int32_t rank) const;
  // The roots, those that hold up most ranks first.
  std::vector<Root> roots() const;

 private:
  struct Node {
    std::int32_t rank = -1;
    std::size_t op = kNone;  // that it is blocked in
    bool sure = false;       // a thread is seen to wait for it; else the call is merely not finished
  };
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);
  class Builder;

  std::size_t node_of(std::int32_t rank) const;
  void connect();
  void connect_op(std::size_t op);
  bool drop_unsure_waits();
  std::vector<std::int32_t> affected_by(const Root& root, const std::vector<std::vector<std::size_t>>& back) const;

  std::vector<OpenOp> ops_;
  std::vector<Node> nodes_;                      // by rank
  std::vector<std::vector<std::size_t>> edges_;  // of the nodes, then of the operations
};

}  // namespace plumbline::checks
