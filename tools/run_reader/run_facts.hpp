// What ran: the facts that head a summary.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tools/run_reader/context.hpp"
#include "tools/run_reader/json_out.hpp"

namespace plumbline::tools {

struct StepTimes {
  std::int64_t steps = 0;        // logical, of the rank that has most
  std::int64_t least_steps = 0;  // of the rank that has fewest
  std::uint64_t median_ns = 0;   // of the median rank
  std::uint64_t fastest_ns = 0;  // median of the fastest rank
  std::uint64_t slowest_ns = 0;  // median of the slowest rank
  std::int32_t slowest_rank = -1;
  std::int64_t exact_until = -1;  // steps after it are numbered by estimate; -1: all are exact
};

// Medians are over all steps but the first, which warms up. Ranks of the last attempt of the last launch.
StepTimes step_times(const Context& context);

// "120 logical steps, median 83.0 ms a step".
std::string steps_text(const StepTimes& steps);

struct RunFacts {
  std::size_t processes = 0;
  int world_size = 0;
  int launches = 1;
  int attempts = 1;
  std::vector<std::int32_t> missing_ranks;
  std::vector<std::string> hosts;
  std::uint64_t start_realtime_ns = 0;
  double duration_s = 0;
  std::string command;
  std::vector<std::pair<std::string, std::string>> versions;  // torch, python …, the first rank's
  StepTimes steps;
};

RunFacts run_facts(const Context& context);
std::string run_facts_text(const Context& context, const RunFacts& facts);
Json run_facts_json(const RunFacts& facts);

}  // namespace plumbline::tools
