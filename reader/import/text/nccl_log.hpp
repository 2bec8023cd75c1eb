// NCCL's own log: collectives that NCCL_DEBUG_SUBSYS=COLL writes, and its warnings.
//
//   node7:177794:177794 [7] NCCL INFO AllReduce: opCount 0 sendbuff 0x… count 1 datatype 7 op 0 root 0 comm 0x…
//   [nranks=16]
//
// A line names its process, and a communicator by its address in that process; which rank that is, only the lines of
// its making say. Processes whose rank nothing tells stay without one.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "reader/import/text/log_line.hpp"
#include "reader/import/text/log_processes.hpp"

namespace plumbline::reader::imports {

class NcclLog {
 public:
  explicit NcclLog(LogProcesses& processes) : processes_(processes) {}
  bool line(const LogLine& line);

 private:
  struct Origin {
    std::string host;
    std::uint32_t pid = 0;
    std::uint32_t tid = 0;
  };
  // Communicators of one size in one process are numbered as they are met.
  struct Comms {
    std::map<std::string, std::size_t> number;  // by address
    std::map<std::int64_t, std::size_t> of_size;
  };

  static bool parse_origin(std::string_view head, Origin& origin);
  bool call_line(const Origin& origin, std::string_view text, const LogLine& line);
  ImportedProcess& process_of(const Origin& origin, int rank);

  LogProcesses& processes_;
  std::map<std::uint32_t, int> rank_of_pid_;
  std::map<std::uint32_t, Comms> comms_;  // by pid
};

}  // namespace plumbline::reader::imports
