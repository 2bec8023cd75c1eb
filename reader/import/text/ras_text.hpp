// ncclras reports in text: communicators with a different number of operations, missing and dead processes.
//
// The report itemises only small minorities; the others are known by their number. What NCCL counts is operations that
// were launched, of one kind in one communicator.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "reader/import/text/log_line.hpp"
#include "reader/import/text/log_processes.hpp"

namespace plumbline::reader::imports {

class RasText {
 public:
  explicit RasText(LogProcesses& processes) : processes_(processes) {}
  bool line(const LogLine& line);
  void finish();

 private:
  struct Comm {
    std::string name;  // "#0-0"
    std::string hash;
    std::string error;         // "MISMATCH"
    std::string operation;     // whose counts differ
    std::size_t size = 0;      // of the group that the communicator is in, 0 not known
    std::int64_t common = -1;  // what the ranks that are not itemised have launched
    std::size_t common_ranks = 0;
    std::map<int, std::int64_t> launched;  // by rank
    std::map<int, std::string> processes;  // "GPU 3 managed by process 1650386 on node node1"
    std::map<int, std::string> statuses;
    std::vector<int> missing;
    std::size_t seen = 1;  // reports in which it stands with the same numbers
  };

  bool table_line(std::string_view text);
  bool comm_line(std::string_view text);
  void close();
  void write(const Comm& comm);

  LogProcesses& processes_;
  bool in_table_ = false;
  bool in_report_ = false;
  std::map<int, std::size_t> sizes_;  // ranks per communicator, by group number
  std::vector<Comm> comms_;
  Comm comm_;
  bool open_ = false;
  bool missing_follow_ = false;
  std::int64_t count_ = -1;  // of the "N ranks have launched up to" line that the next ranks belong to
  std::string status_;
  std::vector<std::string> dead_;
};

}  // namespace plumbline::reader::imports
