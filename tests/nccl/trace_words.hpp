// A trace in the words of the job's own log (call_log.hpp), so that the two can be compared line by line.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "reader/trace.hpp"

namespace plumbline::nccl_job {

struct TraceWords {
  std::vector<std::string> collectives;  // with "*" for the communicator, whose label a trace does not know
  std::vector<std::uint64_t> groups;     // the communicator of each
  std::vector<std::uint64_t> sequence;   // its number in the communicator
  std::vector<std::string> comms;
  std::vector<std::string> allocations;  // without NCCL's own
  std::uint64_t nccl_allocations = 0;
  std::uint64_t nccl_frees = 0;
  std::int64_t graph_launches = 0;
};

// The events of the thread that made the process's calls; NCCL's own memory and graph launches of all threads.
TraceWords words_of(const reader::Trace& trace);

}  // namespace plumbline::nccl_job
