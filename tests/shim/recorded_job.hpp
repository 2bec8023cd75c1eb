// Runs a program under the preload object in a directory of its own, and reads back what was recorded.
//
//   RecordedJob job({"scenario", "allocations", fake_libraries});
//   ASSERT_EQ(job.exit_status(), 0);
//   EXPECT_EQ(job.process().calls.size(), 1u);
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "reader/run.hpp"

namespace plumbline::tests {

struct RecordedCall {
  recorder::Op op{};
  std::uint64_t id = 0;
  std::uint64_t group = 0;
  std::uint64_t seq = 0;
  std::uint64_t parent = 0;
  std::uint64_t buffer_in = 0;
  int peer = -1;
  int tensor_tag = 0;
  std::uint64_t time_ns = 0;
  std::map<recorder::Kind, int> marks;  // how many of each
  std::uint64_t end_ns = 0;
  recorder::Outcome outcome = recorder::Outcome::kPending;       // of the end mark
  recorder::Outcome wait_outcome = recorder::Outcome::kPending;  // of the last end of a wait
};

struct RecordedAllocation {
  recorder::Kind kind{};
  std::uint64_t time_ns = 0;
  std::uint64_t address = 0;
  std::uint64_t size = 0;
};

struct RecordedProcess {
  std::vector<RecordedAllocation> allocations;  // by time
  std::vector<RecordedCall> calls;              // by id
  std::uint64_t dropped = 0;
  bool clean_end = false;
  int exit_status = -1;
  int exit_signal = 0;
  std::uint32_t pid = 0;
  reader::Definitions definitions;

  std::uint64_t fired(const std::string& hook) const;
  const reader::HookCount* hook(const std::string& name) const;
};

class RecordedJob {
 public:
  using Environment = std::vector<std::pair<std::string, std::string>>;

  explicit RecordedJob(const std::vector<std::string>& command, const Environment& environment = {});
  ~RecordedJob();
  RecordedJob(const RecordedJob&) = delete;
  RecordedJob& operator=(const RecordedJob&) = delete;

  int exit_status() const { return exit_status_; }  // -1 when a signal ended it
  int signal() const { return signal_; }
  const std::string& output() const { return output_; }  // standard output and error
  std::vector<std::string> files() const;                // all that lies in the job's directory, hidden files too

  std::string directory() const { return directory_ + "/run/here"; }  // the run's
  std::vector<std::string> log() const;                               // lines of its log

  // The traces of the run, by pid. A trace that cannot be read fails the test.
  std::vector<RecordedProcess> processes() const;
  // The one process of a job that has one; an empty one, and a failure, otherwise.
  RecordedProcess process() const;

 private:
  std::string directory_;
  std::string output_;
  int exit_status_ = -1;
  int signal_ = 0;
};

}  // namespace plumbline::tests
