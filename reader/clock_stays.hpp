// How long a rank stayed in collectives that synchronise: what the hosts' clocks are aligned by.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "reader/collectives.hpp"

namespace plumbline::reader {

struct Stay {
  std::uint64_t seq = 0;
  std::uint64_t enter_ns = 0;
  std::uint64_t leave_ns = 0;
};

// A trace's stays in one group, by number. Kept small by keeping only multiples of a power of two: two traces that have
// thinned out to different degrees still have numbers in common.
struct GroupStays {
  std::uint64_t group = 0;  // Trace::group()
  std::uint64_t stride = 1;
  std::vector<Stay> stays;
};

class StayKeeper {
 public:
  // At most that many of a group.
  explicit StayKeeper(std::size_t most = kMost) : most_(most) {}
  void add(const Collective& call);
  // Those of groups that the trace defines and that have more than one member.
  std::vector<GroupStays> finish(const Trace& trace);

  static constexpr std::size_t kMost = 4096;
  // In a run of that many traces: together they must fit into memory, and the more hosts, the better each is tied.
  static std::size_t most_in(std::size_t traces);

 private:
  GroupStays& group(std::uint64_t id);

  std::size_t most_;
  std::vector<GroupStays> groups_;
  std::unordered_map<std::uint64_t, std::size_t> index_;
};

}  // namespace plumbline::reader
