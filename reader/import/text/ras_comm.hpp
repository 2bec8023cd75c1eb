// One communicator of an ncclras report, in text or JSON, and what it becomes: for each kind of operation a group with
// the number of operations that each rank has launched.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "reader/import/plain_data.hpp"
#include "reader/import/text/log_processes.hpp"

namespace plumbline::reader::imports {

inline constexpr std::size_t kMostRasRanks = 1 << 17;

struct RasRank {
  int rank = -1;  // in the communicator
  std::uint32_t pid = 0;
  std::string host;
  std::string status;                            // when it differs from the others'
  std::map<std::string, std::int64_t> launched;  // by kind of operation
};

struct RasComm {
  std::string hash;
  std::size_t size = 0;
  std::vector<RasRank> ranks;    // those that have answered
  std::size_t observations = 1;  // reports with the same numbers
};

// A communicator's ranks are taken as the job's: nothing in a report says how they map, and mostly they are.
void add_ras_comm(LogProcesses& processes, const RasComm& comm);

bool is_ras_json(const PlainData& data);
void add_ras_json(LogProcesses& processes, const PlainData& data);

}  // namespace plumbline::reader::imports
