#include "tools/plumbline/doctor.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "checks/testing/fake_rank.hpp"
#include "tools/plumbline/scratch_directory.hpp"

namespace plumbline::tools {
namespace {

using checks::testing::FakeRank;

// A process of this machine that is not there any more.
checks::testing::RankOptions gone() {
  checks::testing::RankOptions options;
  std::array<char, 256> host{};
  gethostname(host.data(), host.size() - 1);
  options.host = host.data();
  std::ifstream("/proc/sys/kernel/random/boot_id") >> options.boot_id;
  options.pid = (1U << 22) + 77;  // beyond the largest that a kernel gives out
  options.start_monotonic_ns = std::uint64_t{1} << 60;
  return options;
}

bool says(const Findings& findings, Grade grade, const std::string& subject, const std::string& part) {
  return std::any_of(findings.all().begin(), findings.all().end(), [&](const Finding& one) {
    return one.grade == grade && one.subject == subject && one.sentence.find(part) != std::string::npos;
  });
}

TEST(DoctorProcess, ThatIsNotThere) {
  EXPECT_FALSE(examine_process(1 << 30));
  EXPECT_EQ(doctor(std::to_string(1 << 30), ""), 2);
}

// A program that waits to be looked at, with an environment of its own.
class Sleeper {
 public:
  explicit Sleeper(const std::vector<std::string>& environment) : pid_(fork()) {
    if (pid_ != 0) {
      // Until it has become the program: its command line is the last thing that changes.
      while (!named("sleep")) usleep(1000);
      return;
    }
    std::vector<char*> variables;
    for (const std::string& variable : environment) variables.push_back(const_cast<char*>(variable.c_str()));
    variables.push_back(nullptr);
    freopen("/dev/null", "w", stderr);  // the loader's word on what it cannot preload
    execle("/bin/sleep", "sleep", "60", nullptr, variables.data());
    std::_Exit(127);
  }
  ~Sleeper() {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  Sleeper(const Sleeper&) = delete;
  Sleeper& operator=(const Sleeper&) = delete;
  pid_t pid() const { return pid_; }

 private:
  bool named(const std::string& name) const {
    std::string word;
    std::getline(std::ifstream("/proc/" + std::to_string(pid_) + "/cmdline"), word, '\0');
    return word == name;
  }
  pid_t pid_;
};

TEST(DoctorProcess, ThatIsNoTrainingJob) {
  const Sleeper sleeper({"PATH=/bin"});
  const auto findings = examine_process(sleeper.pid());
  ASSERT_TRUE(findings);
  EXPECT_EQ(findings->all().size(), 1U);
  EXPECT_TRUE(says(*findings, Grade::kProblem, "process", "no training job"));
  EXPECT_TRUE(says(*findings, Grade::kProblem, "process", "sleep"));
}

TEST(DoctorProcess, WithoutThePreloadObject) {
  const Sleeper sleeper({"LD_PRELOAD=/nonexistent/libplumbline.so"});
  const auto findings = examine_process(sleeper.pid());
  ASSERT_TRUE(findings);
  EXPECT_TRUE(says(*findings, Grade::kFine, "process", std::to_string(sleeper.pid())));
  EXPECT_TRUE(says(*findings, Grade::kProblem, "preload object", "although LD_PRELOAD"));
}

TEST(DoctorProcess, ThatHasEnded) {
  const pid_t child = fork();
  if (child == 0) std::_Exit(0);
  siginfo_t ended{};
  waitid(P_PID, static_cast<id_t>(child), &ended, WEXITED | WNOWAIT);
  const auto findings = examine_process(child);
  waitpid(child, nullptr, 0);
  ASSERT_TRUE(findings);
  EXPECT_TRUE(says(*findings, Grade::kProblem, "process", "has ended"));
}

TEST(DoctorRun, ThatIsNotThere) {
  std::string why;
  EXPECT_FALSE(examine_run("/nonexistent/run", why));
  EXPECT_NE(why, "");
}

TEST(DoctorRun, ThatIsEmpty) {
  const ScratchDirectory scratch;
  std::string why;
  EXPECT_FALSE(examine_run(scratch.path(""), why));
  EXPECT_NE(why, "");
}

class DoctorOnRun : public ::testing::Test {
 protected:
  Findings examine() const {
    std::string why;
    auto findings = examine_run(directory_.path(), why);
    EXPECT_EQ(why, "");
    return findings.value_or(Findings{});
  }
  std::string file(const std::string& ending) const {
    for (const auto& entry : std::filesystem::directory_iterator(directory_.path())) {
      if (entry.path().string().ends_with(ending)) return entry.path();
    }
    ADD_FAILURE() << "no " << ending;
    return {};
  }
  void train(FakeRank& rank) const {
    rank.step(1, 2);
    rank.exit(0);
  }

  reader::testing::TempDir directory_;
};

TEST_F(DoctorOnRun, NamesTheHiddenFilesOfAKilledProcess) {
  FakeRank rank(directory_.path(), 0, 1, {.host = "elsewhere"});
  train(rank);
  FakeRank pending(directory_.path(), -1, -1, gone());
  pending.alloc(1, 16, 16);
  pending.killed();
  std::filesystem::rename(pending.trace().path(), directory_ / ".pending-node-77.plt");
  const Findings findings = examine();
  EXPECT_TRUE(says(findings, Grade::kNote, "process", "was killed before it trained, and left .pending-node-77.plt"));
  EXPECT_TRUE(says(findings, Grade::kNote, "process", "can be deleted"));
  EXPECT_FALSE(findings.any_problem());
}

TEST_F(DoctorOnRun, LeavesAPendingProcessThatRunsItsFiles) {
  checks::testing::RankOptions here = gone();
  here.pid = static_cast<std::uint32_t>(getpid());
  FakeRank pending(directory_.path(), -1, -1, here);
  pending.alloc(1, 16, 16);
  pending.killed();
  std::filesystem::rename(pending.trace().path(), directory_ / ".pending-node-77.plt");
  const Findings findings = examine();
  EXPECT_TRUE(says(findings, Grade::kNote, "process", "has not shown yet that it trains"));
  EXPECT_FALSE(says(findings, Grade::kNote, "process", "deleted"));
}

TEST_F(DoctorOnRun, NamesAHalfWrittenShorterTrace) {
  FakeRank rank(directory_.path(), 0, 1);
  train(rank);
  std::filesystem::copy_file(file(".plt"), directory_ / ".rank0-a0-node1-1000.plt.shorter");
  const Findings findings = examine();
  EXPECT_TRUE(says(findings, Grade::kNote, "file", ".rank0-a0-node1-1000.plt.shorter was left by a process"));
  EXPECT_FALSE(findings.any_problem());
}

TEST_F(DoctorOnRun, TellsABadSettingOnce) {
  for (const int number : {0, 1}) {
    FakeRank rank(directory_.path(), number, 2);
    rank.trace().fact("settings.complaint.0", "PLUMBLINE_LEVLE is not a setting of Plumbline");
    train(rank);
  }
  const Findings findings = examine();
  const auto& all = findings.all();
  EXPECT_EQ(std::count_if(all.begin(), all.end(), [](const Finding& one) { return one.subject == "settings"; }), 1);
}

TEST_F(DoctorOnRun, CountsForkedProcessesWithoutATrace) {
  FakeRank parent(directory_.path(), 0, 2);
  parent.trace().hooks(1, {{"fork", true, 3, "", 12}});
  train(parent);
  FakeRank child(directory_.path(), 1, 2);
  child.trace().fact("process.parent", "1000");
  train(child);
  EXPECT_TRUE(says(examine(), Grade::kNote, "fork", "forked 3 processes, 1 of which left a trace"));
}

TEST(DoctorMachine, ReadsTheSwitches) {
  setenv("PLUMBLINE_DISABLE", "1", 1);
  setenv("PLUMBLINE_LEVLE", "watch", 1);
  const Findings findings = examine_machine("/nonexistent/python");
  unsetenv("PLUMBLINE_DISABLE");
  unsetenv("PLUMBLINE_LEVLE");
  EXPECT_TRUE(says(findings, Grade::kProblem, "settings", "PLUMBLINE_DISABLE"));
  EXPECT_TRUE(says(findings, Grade::kProblem, "settings", "PLUMBLINE_LEVLE"));
  EXPECT_TRUE(says(findings, Grade::kProblem, "python", "cannot be run"));
}

TEST(DoctorMachine, LooksForAPlaceToWrite) {
  setenv("PLUMBLINE_DIR", "/proc", 1);
  const Findings nowhere = examine_machine("/nonexistent/python");
  const ScratchDirectory scratch;
  setenv("PLUMBLINE_DIR", scratch.path("not/yet/there").c_str(), 1);
  const Findings somewhere = examine_machine("/nonexistent/python");
  unsetenv("PLUMBLINE_DIR");
  EXPECT_TRUE(says(nowhere, Grade::kProblem, "run directory", "cannot be written to"));
  EXPECT_FALSE(says(somewhere, Grade::kProblem, "run directory", ""));
}

}  // namespace
}  // namespace plumbline::tools
