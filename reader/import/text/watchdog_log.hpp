// What the watchdog of PyTorch's NCCL backend writes when a collective times out, in the words of every version
// from 2.1 on: the call that timed out, how far its group came on that rank, the desync report, and the check of
// fingerprints that TORCH_DISTRIBUTED_DEBUG=DETAIL makes before each call.
//
// "[rank3]" at the front of a line is a global rank; "Rank 3" within it is one of the group. Lines before 2.2 have only
// the latter and no group, so that their numbers can be compared with nothing: such calls get no group.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "reader/import/text/log_line.hpp"
#include "reader/import/text/log_processes.hpp"

namespace plumbline::reader::imports {

class WatchdogLog {
 public:
  explicit WatchdogLog(LogProcesses& processes) : processes_(processes) {}
  bool line(const LogLine& line);
  // Gives calls their groups and groups their ranks, when all lines are known.
  void finish();

 private:
  struct Timeout {
    int rank = -1;
    std::uint64_t time_ns = 0;
    std::uint64_t ran_ms = 0;
    std::uint64_t limit_ms = 0;
    std::int64_t seq = -1;
    std::string op;
    std::uint64_t count_in = 0;
    std::uint64_t count_out = 0;
    std::string group;  // empty: the line has none
    bool old_format = false;
  };
  struct GroupSeen {
    std::string description;
    std::map<int, int> global_of_local;
    std::map<int, GroupStatus> statuses;  // by global rank
  };
  struct Fingerprint {
    int rank = -1;
    std::int64_t seq = -1;
    std::string op;
    std::string dtype;
    std::uint64_t elements = 0;
    std::uint64_t time_ns = 0;
  };

  bool timeout_line(const LogLine& line);
  bool group_line(const LogLine& line);
  bool desync_line(const LogLine& line);
  bool fingerprint_line(const LogLine& line);
  void add_fingerprint(std::string_view text, int rank, std::uint64_t time_ns);
  void write_groups();
  void write_timeouts();
  void write_fingerprints();
  void write_desync();
  std::vector<int> ranks_of(const GroupSeen& group) const;

  LogProcesses& processes_;
  std::vector<Timeout> timeouts_;
  std::map<std::string, GroupSeen> groups_;
  std::vector<Fingerprint> fingerprints_;
  std::map<int, GroupStatus> desync_;  // by rank: counted over all groups of the rank
  std::int64_t desync_seq_ = -1;
  bool in_desync_ = false;
};

}  // namespace plumbline::reader::imports
