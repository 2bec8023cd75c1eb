// Collectives: each call joined with the marks of its start, end, return and waits, with its outcome and its step.
//
//   read_collectives(trace, {}, [&](const Collective& c) { … return true; });
//
// They come in the order of their ends, nearly; those that never ended come last, in the order of their calls. Only the
// calls that are under way are held in memory.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "reader/batch.hpp"
#include "reader/flat_map.hpp"
#include "reader/stats.hpp"
#include "reader/trace.hpp"

namespace plumbline::reader {

struct Collective {
  std::uint64_t id = 0;
  std::uint64_t group = 0;  // Trace::group()
  std::uint64_t seq = 0;    // in its group, from 0; point-to-point calls count apart
  Op op = Op::kUnknown;
  ReduceOp reduce_op = ReduceOp::kNone;
  Dtype dtype = Dtype::kUnknown;
  Layer layer = Layer::kC10d;
  std::uint64_t count_in = 0;
  std::uint64_t count_out = 0;
  std::int32_t peer = -1;  // root or peer, group-local
  std::int32_t tensor_tag = 0;
  std::uint64_t parent = 0;
  std::uint64_t buffer_in = 0;
  std::uint64_t buffer_out = 0;
  std::uint64_t stream = 0;
  std::uint32_t tensors_in = 0;
  std::uint32_t tensors_out = 0;
  std::uint32_t splits_hash = 0;
  std::uint64_t site = 0;  // Trace::text(): "PATH:LINE in FUNCTION" of the calling line; 0 not known

  std::uint64_t enqueue_ns = 0;
  std::uint64_t start_ns = 0;   // the backend began to execute it; 0 not seen
  std::uint64_t end_ns = 0;     // 0: not seen
  std::uint64_t return_ns = 0;  // the enqueuing call came back; 0 not seen
  std::uint64_t wait_ns = 0;    // the last wait for it: begin and end; 0 not seen
  std::uint64_t wait_end_ns = 0;
  Outcome outcome = Outcome::kPending;
  std::int64_t code = 0;
  std::int64_t step = -1;  // logical step, see reader/steps.hpp; -1 when not asked for
  std::uint32_t ring = 0;  // thread that called
  bool in_flight = false;  // the process died inside the call
  Place place;

  // Nothing more is to be expected of it: it ended, or its call came back without the means to see an end (a return is
  // recorded only then; of the NCCL C API, whose work goes on on the device).
  bool settled() const { return end_ns != 0 || return_ns != 0; }
  // The latest time at which this rank is known to have been busy with it.
  std::uint64_t last_seen_ns() const;
};

bool is_point_to_point(Op op);
// Of a row alone, without its marks.
Collective collective_of(const CollectiveBatch& batch, std::size_t row);

// Streaming join; feed it every frame with kCollectives | kMarks.
class CollectiveJoin {
 public:
  using Visit = std::function<void(const Collective&)>;

  void add(const FrameView& frame, const Visit& visit);
  // Gives out those that never ended; in-flight evidence of the trace is applied here.
  void finish(const std::vector<InFlightCall>& in_flight, const Visit& visit);

  // Starts and ends of calls that were dropped or evicted.
  std::uint64_t orphan_marks() const { return orphan_marks_; }

 private:
  struct Open {
    Collective collective;
    bool has_record = false;
    std::uint32_t marks = 0;
  };
  Open& open(std::uint64_t id);
  void close(std::uint64_t id);
  void add_records(const CollectiveBatch& batch, std::size_t from, std::size_t to);
  void add_marks(const MarkBatch& batch, std::size_t from, std::size_t to);
  // Of every batch, those up to a time that were not added yet.
  void add_marks_until(const FrameView& frame, std::uint64_t time_ns);
  void give_settled(const Visit& visit);
  void drop_orphans();

  FlatMap<std::uint32_t> index_;  // id → place in slots_
  std::vector<Open> slots_;
  std::vector<std::uint32_t> free_slots_;
  // Ids that were settled, by the stretch of calls in which they were: more marks of theirs may follow in the next one.
  std::vector<std::uint64_t> settled_before_;
  std::vector<std::uint64_t> settled_now_;
  std::vector<std::uint64_t> early_before_;  // ids whose marks were read before their record
  std::vector<std::uint64_t> early_now_;
  std::uint64_t orphan_marks_ = 0;
  std::vector<std::size_t> marks_added_;  // of each batch of the frame at hand
};

struct CollectiveQuery {
  std::uint64_t from_ns = 0;  // by enqueue time
  std::uint64_t to_ns = std::numeric_limits<std::uint64_t>::max();
  bool steps = true;  // fill Collective::step (costs a pass over the optimizer steps, once a trace)
};

// `visit` returns false to stop.
void read_collectives(const Trace& trace, const CollectiveQuery& query,
                      const std::function<bool(const Collective&)>& visit);

}  // namespace plumbline::reader
