// One collective over all ranks of its group.
//
// Ranks are matched by group (name and global ranks), layer and sequence number; a point-to-point call by group,
// sender, receiver and tag, the nth send with the nth receive. Traces of one launch and attempt only are matched.
//
//   match_collectives(run, {}, [&](const MatchedCollective& m) { … return true; });
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "reader/collectives.hpp"
#include "reader/run.hpp"

namespace plumbline::reader {

struct MatchedMember {
  int rank = -1;          // global
  std::size_t trace = 0;  // index in Run::traces(); meaningless when there is no trace of the rank
  bool has_trace = false;
  bool present = false;   // the rank made the call
  Collective collective;  // when present
};

struct MatchedCollective {
  std::string group_name;
  std::string group_description;
  std::uint64_t seq = 0;
  bool point_to_point = false;
  Layer layer = Layer::kC10d;
  std::vector<MatchedMember> members;  // in group order; of a point-to-point call: sender, receiver

  bool complete() const;  // every member that has a trace made the call
};

struct MatchOptions {
  int attempt = -1;  // of the last launch; -1: the last
  bool steps = false;
  // Calls that are held back while other ranks are read; beyond it the oldest are given out as they are.
  std::size_t max_open = std::size_t{1} << 20;
};

// Complete matches as they become complete, then the others; `visit` returns false to stop.
void match_collectives(const Run& run, const MatchOptions& options,
                       const std::function<bool(const MatchedCollective&)>& visit);

}  // namespace plumbline::reader
