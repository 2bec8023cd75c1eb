// What a check says: a status, the findings behind it, and what could not be known.
//
// `pass` needs data that was looked at; a check whose input is absent says `not_evaluated`, one that could not finish
// its comparison says `inconclusive`. Every finding names the records it rests on, so that somebody else can find them
// again in the traces.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace plumbline::checks {

enum class Status : std::uint8_t { kPass, kFail, kInconclusive, kNotEvaluated };

std::string_view name_of(Status status);

// One record of a trace, and what it shows.
struct Evidence {
  std::string trace;               // file name in the run directory
  std::int32_t rank = -1;          // global; -1 not known
  std::int64_t step = -1;          // logical step; -1 not known
  std::uint64_t time_ns = 0;       // on the run's clock
  std::uint64_t record = 0;        // id of the collective, range or step in its process
  std::uint64_t frame_offset = 0;  // of the compressed frame that holds it, in bytes from the file's start
  std::string shows;               // one clause
};

// The way down from the run to the line, one sentence each; what is not known is empty.
struct Descent {
  std::string run;
  std::string rank;       // and the phase that it is in
  std::string component;  // process group, optimizer, allocator …
  std::string operation;  // or tensor
  std::string line;       // of the script
};

// The collective that a finding is about, so that findings of several checks can be told to be about the same.
struct Place {
  std::string group;                      // for people; empty: the finding is about no collective
  std::vector<std::int32_t> group_ranks;  // global
  std::int64_t seq = -1;
  std::string operation;
};

struct Finding {
  Status status = Status::kFail;     // kFail, or kInconclusive: it may be no fault
  std::string title;                 // one line, complete by itself
  std::vector<std::int32_t> ranks;   // the guilty ones, global
  std::vector<std::string> details;  // one line each, most useful first
  std::vector<std::string> unknown;  // what would have to be known, and why it is not
  std::vector<Evidence> evidence;

  // For a diagnosis, which puts findings of all checks in order. Empty where a check does not know.
  std::vector<std::int32_t> affected;  // ranks that suffer from it
  std::int64_t time_ns = -1;           // when it began, on the run's clock
  Place place;
  Descent descent;
  std::string next;      // the one change, or the cheapest check, that would confirm it
  bool symptom = false;  // by its own words it followed from something else
};

struct Verdict {
  std::string check;
  Status status = Status::kNotEvaluated;
  std::string reason;                // one line
  std::vector<Finding> findings;     // worst first
  std::vector<std::string> unknown;  // limits of the whole check
};

}  // namespace plumbline::checks
