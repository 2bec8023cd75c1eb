// What torchrun's agent says of its workers: exit codes, who was told to stop, and its summary of failures.
//
// The agent's "root cause" is the first error it saw, which is often the rank that waited; so it is kept as a fact and
// not believed.
#pragma once

#include <string>
#include <vector>

#include "reader/import/text/log_line.hpp"
#include "reader/import/text/log_processes.hpp"

namespace plumbline::reader::imports {

class TorchrunLog {
 public:
  explicit TorchrunLog(LogProcesses& processes) : processes_(processes) {}
  bool line(const LogLine& line);
  void finish();

 private:
  struct Failure {
    std::uint64_t time_ns = 0;
    std::string host;
    int rank = -1;
    int local_rank = -1;
    int exit_code = 0;
    std::uint32_t pid = 0;
    bool first = false;  // under "Root Cause"
    std::string exception_class;
    std::string exception_message;
  };
  struct Stopped {
    std::uint32_t pid = 0;
    std::uint64_t time_ns = 0;
    std::string signal;
  };

  bool summary_line(std::string_view text);
  void add(const Failure& failure);

  LogProcesses& processes_;
  bool in_summary_ = false;
  bool in_root_cause_ = false;
  std::vector<Failure> failures_;
  std::vector<Stopped> stopped_;
};

}  // namespace plumbline::reader::imports
