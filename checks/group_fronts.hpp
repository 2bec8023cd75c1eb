// How far each rank got in each process group: the wavefront, in which a missing rank shows at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "checks/subject.hpp"

namespace plumbline::checks {

// One start of all ranks: a run directory may hold several launches, each with restarts.
struct Attempt {
  int launch = 0;
  int number = 0;

  bool operator==(const Attempt&) const = default;
  bool operator<(const Attempt& other) const {
    return launch != other.launch ? launch < other.launch : number < other.number;
  }
};

// In order; at least one of a run with traces.
std::vector<Attempt> attempts_of(const reader::Run& run);
// "attempt 1: ", or with the launch, where a run has several; else nothing.
std::string attempt_prefix(const reader::Run& run, Attempt attempt);
bool belongs(const reader::Trace& trace, Attempt attempt);

struct FrontMember {
  std::int32_t rank = -1;  // global
  bool has_trace = false;
  bool counts_only = false;  // its numbers are known, but none of its calls: a dump without entries
  std::size_t trace = 0;     // index in Run::traces(), when has_trace
  std::uint64_t group = 0;   // Trace::group() there; 0: the rank never saw the group
  // Greatest number of a collective that it called, began and finished; -1 none.
  std::int64_t enqueued = -1;
  std::int64_t started = -1;
  std::int64_t completed = -1;

  bool called(std::uint64_t seq) const { return enqueued >= static_cast<std::int64_t>(seq); }
};

struct GroupFront {
  std::string name;         // for people
  std::string system_name;  // as the job's library calls it: the same text on all its ranks
  std::string backend;
  std::vector<FrontMember> members;  // in group order
  bool completions_seen = true;      // false: only that calls were made is recorded, not their ends

  std::vector<std::int32_t> ranks() const;
  const FrontMember* member(std::int32_t rank) const;
};

// The groups of one attempt that have members with a trace, in the order of their first sight. Calls whose group is not
// known are in no group.
std::vector<GroupFront> group_fronts(const Subject& subject, Attempt attempt);

}  // namespace plumbline::checks
