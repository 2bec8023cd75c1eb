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

struct Finding {
  Status status = Status::kFail;     // kFail, or kInconclusive: it may be no fault
  std::string title;                 // one line, complete by itself
  std::vector<std::int32_t> ranks;   // the guilty ones, global
  std::vector<std::string> details;  // one line each, most useful first
  std::vector<std::string> unknown;  // what would have to be known, and why it is not
  std::vector<Evidence> evidence;
};

struct Verdict {
  std::string check;
  Status status = Status::kNotEvaluated;
  std::string reason;                // one line
  std::vector<Finding> findings;     // worst first
  std::vector<std::string> unknown;  // limits of the whole check
};

}  // namespace plumbline::checks
