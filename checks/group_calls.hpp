// Who has called how much in each process group: the table in which a missing rank shows at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "checks/subject.hpp"

namespace plumbline::checks {

struct GroupMember {
  std::int32_t rank = -1;  // global
  bool has_trace = false;
  std::size_t trace = 0;       // index in Run::traces(), when has_trace
  std::int64_t last_seq = -1;  // of the last collective that it called in the group; -1 none
  std::uint64_t failed = 0;
  std::uint64_t pending = 0;
};

struct GroupCalls {
  std::uint64_t id = 0;  // Trace::group() of any member's trace
  std::string name;      // for people
  std::string backend;
  std::vector<GroupMember> members;  // in group order
  bool completions_seen = true;      // false: only that calls were made is recorded, not their ends

  std::vector<std::int32_t> ranks() const;
};

// The groups of one attempt of one launch that have members with a trace, in the order of their first sight. Calls
// whose group is not known are in no group.
std::vector<GroupCalls> group_calls(const Subject& subject, int launch, int attempt);

}  // namespace plumbline::checks
