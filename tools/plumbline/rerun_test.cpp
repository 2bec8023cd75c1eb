#include "tools/plumbline/rerun.hpp"

#include <gtest/gtest.h>

#include <filesystem>

#include "checks/testing/fake_rank.hpp"
#include "tools/plumbline/recorded_launch.hpp"
#include "tools/plumbline/scratch_directory.hpp"
#include "tools/plumbline/subprocess.hpp"

namespace plumbline::tools {
namespace {

using checks::testing::FakeRank;
using Facts = std::vector<std::pair<std::string, std::string>>;

// A job of torchrun, with the parts that a test changes last.
Facts torchrun_facts(int rank) {
  return {{"process.command", "/bin/python train.py"},
          {"process.directory", "/"},
          {"process.parent", "77"},
          {"env.RANK", std::to_string(rank)},
          {"env.NCCL_DEBUG", "INFO"},
          {"env.OMP_NUM_THREADS", "1"},
          {"env.LD_PRELOAD", "libjemalloc.so.2:/opt/lib/libplumbline.so"},
          {"env.PLUMBLINE_RUN", "/old"},
          {"launcher.command", "/bin/echo --nproc-per-node 2 'two words' train.py"},
          {"launcher.executable", "/bin/echo"},
          {"launcher.directory", "/"},
          {"launcher.env.OMP_NUM_THREADS", "8"},
          {"launcher.lacks", "MASTER_PORT,RANK"}};
}

class RecordedLaunchTest : public ::testing::Test {
 protected:
  void rank(int rank, const Facts& facts, const checks::testing::RankOptions& options = {}, int world = 2) {
    FakeRank process(scratch_.path(""), rank, world, options);
    for (const auto& [key, value] : facts) process.trace().fact(key, value);
    process.step(1, 2);
    process.exit(0);
  }
  void two_ranks(const Facts& changes = {}) {
    for (int number : {0, 1}) {
      Facts facts = torchrun_facts(number);
      facts.insert(facts.end(), changes.begin(), changes.end());
      rank(number, facts);
    }
  }
  reader::Result<RecordedLaunch> launch() const {
    auto run = reader::Run::open(scratch_.path(""));
    if (!run.ok()) return run.status();
    return recorded_launch(*run);
  }
  std::string refusal() const {
    const auto found = launch();
    return found.ok() ? "" : found.status().message();
  }

  const ScratchDirectory scratch_;
};

TEST_F(RecordedLaunchTest, OfTorchrunIsTheLaunchers) {
  two_ranks();
  const auto found = launch();
  ASSERT_TRUE(found.ok()) << found.status().message();
  EXPECT_TRUE(found->by_launcher);
  EXPECT_EQ(found->command, (std::vector<std::string>{"/bin/echo", "--nproc-per-node", "2", "two words", "train.py"}));
  EXPECT_EQ(found->directory, "/");
  EXPECT_EQ(found->variables,
            (std::map<std::string, std::string>{
                {"LD_PRELOAD", "libjemalloc.so.2"}, {"NCCL_DEBUG", "INFO"}, {"OMP_NUM_THREADS", "8"}}));
}

TEST_F(RecordedLaunchTest, OfOneProcessIsItsOwn) {
  rank(0, {{"process.command", "/bin/echo train.py"}, {"process.directory", "/"}, {"env.PL_GLOBAL_SEED", "7"}}, {}, 1);
  const auto found = launch();
  ASSERT_TRUE(found.ok()) << found.status().message();
  EXPECT_FALSE(found->by_launcher);
  EXPECT_EQ(found->variables.at("PL_GLOBAL_SEED"), "7");
}

TEST_F(RecordedLaunchTest, OfARankTypedIntoAShellIsItsOwn) {
  Facts facts = torchrun_facts(0);
  facts.insert(facts.end(), {{"launcher.command", "-bash"}, {"launcher.executable", "/usr/bin/bash"}});
  rank(0, facts, {}, 1);
  const auto found = launch();
  ASSERT_TRUE(found.ok()) << found.status().message();
  EXPECT_EQ(found->command.front(), "/bin/python");
  EXPECT_EQ(found->variables.at("RANK"), "0");
}

TEST_F(RecordedLaunchTest, OfTheLastLaunchCounts) {
  two_ranks();
  for (int number : {0, 1}) {
    checks::testing::RankOptions later;
    later.start_realtime_ns += 1'000'000'000'000;
    later.start_monotonic_ns += 1'000'000'000'000;
    later.pid = 5000 + static_cast<unsigned>(number);
    Facts facts = torchrun_facts(number);
    facts.emplace_back("launcher.command", "/bin/echo later");
    rank(number, facts, later);
  }
  const auto found = launch();
  ASSERT_TRUE(found.ok()) << found.status().message();
  EXPECT_EQ(found->command.back(), "later");
}

TEST_F(RecordedLaunchTest, OfTwoHostsIsRefused) {
  rank(0, torchrun_facts(0));
  checks::testing::RankOptions other;
  other.host = "node2";
  rank(1, torchrun_facts(1), other);
  EXPECT_NE(refusal().find("the run had 2 hosts (node1, node2)"), std::string::npos) << refusal();
}

TEST_F(RecordedLaunchTest, OfAClustersDaemonIsRefused) {
  two_ranks({{"launcher.executable", "/usr/sbin/slurmstepd"}});
  EXPECT_NE(refusal().find("started by /usr/sbin/slurmstepd, which cannot be started again"), std::string::npos);
}

TEST_F(RecordedLaunchTest, OfSeveralLaunchersIsRefused) {
  rank(0, torchrun_facts(0));
  Facts facts = torchrun_facts(1);
  facts.emplace_back("process.parent", "78");
  rank(1, facts);
  EXPECT_NE(refusal().find("started by 2 launchers"), std::string::npos) << refusal();
}

TEST_F(RecordedLaunchTest, ThatIsNotToldIsRefused) {
  rank(0, {{"process.command", "/bin/echo"}, {"env.RANK", "0"}});
  EXPECT_NE(refusal().find("do not tell what launched the 2 ranks"), std::string::npos) << refusal();
  rank(0, {{"source.format", "Kineto"}}, {.host = "node1", .attempt = 0, .pid = 9}, 1);
}

TEST_F(RecordedLaunchTest, OfAnImportedRunIsRefused) {
  rank(0, {{"source.format", "kineto"}}, {}, 1);
  EXPECT_NE(refusal().find("was imported (kineto)"), std::string::npos) << refusal();
}

TEST_F(RecordedLaunchTest, WithABrokenCommandLineIsRefused) {
  two_ranks({{"launcher.command", "torchrun 'train.py"}});
  EXPECT_NE(refusal().find("do not tell the command line"), std::string::npos) << refusal();
}

// The command as its user meets it; the "launcher" is a program that prints its arguments.
class RerunTest : public RecordedLaunchTest {
 protected:
  Finished rerun(std::vector<std::string> words, const std::vector<std::string>& environment = {}) {
    std::vector<std::string> command = {"env", "PLUMBLINE_CACHE=" + scratch_.path("cache")};
    command.insert(command.end(), environment.begin(), environment.end());
    command.insert(command.end(), {PLUMBLINE_COMMAND, "rerun", scratch_.path("")});
    command.insert(command.end(), words.begin(), words.end());
    return run_program(command);
  }
};

TEST_F(RerunTest, BecomesTheLauncher) {
  two_ranks();
  const Finished finished = rerun({"--dir", scratch_.path("again"), "--", "--epochs", "2"});
  EXPECT_EQ(finished.status, 0) << finished.errors;
  EXPECT_EQ(finished.output, "--nproc-per-node 2 two words train.py --epochs 2\n");
  EXPECT_NE(finished.errors.find("recording into " + scratch_.path("again") + "/plumbline-run-"), std::string::npos)
      << finished.errors;
}

TEST_F(RerunTest, SetsTheEnvironmentOfTheRun) {
  two_ranks({{"launcher.command", "/usr/bin/env"}, {"launcher.executable", "/usr/bin/env"}});
  const Finished finished =
      rerun({"--steps", "0-4", "--", "NCCL_ALGO=Ring"}, {"NCCL_PROTO=LL", "OWN=kept", "PLUMBLINE_LEVEL=off"});
  EXPECT_EQ(finished.status, 0) << finished.errors;
  const std::string lines = "\n" + finished.output;
  for (const char* there : {"\nNCCL_DEBUG=INFO\n", "\nOMP_NUM_THREADS=8\n", "\nNCCL_ALGO=Ring\n", "\nOWN=kept\n",
                            "\nPLUMBLINE_LEVEL=diagnose\n", "\nPLUMBLINE_CAPTURE_STEPS=0-4\n"}) {
    EXPECT_NE(lines.find(there), std::string::npos) << there << lines;
  }
  for (const char* absent : {"\nRANK=", "\nNCCL_PROTO=", "\nPLUMBLINE_RUN=/old"}) {
    EXPECT_EQ(lines.find(absent), std::string::npos) << absent << lines;
  }
}

TEST_F(RerunTest, ShowsWhatItWouldDo) {
  two_ranks();
  const Finished finished = rerun({"--show", "--", "NCCL_DEBUG=WARN"});
  EXPECT_EQ(finished.status, 0);
  EXPECT_EQ(finished.output,
            "cd / && env LD_PRELOAD=libjemalloc.so.2 NCCL_DEBUG=WARN OMP_NUM_THREADS=8 /bin/echo --nproc-per-node 2 "
            "'two words' train.py\n");
}

TEST_F(RerunTest, RefusesWhatIsNotHere) {
  two_ranks({{"launcher.command", "/nonexistent/torchrun train.py"}});
  const Finished program = rerun({});
  EXPECT_EQ(program.status, 2);
  EXPECT_EQ(program.errors, "plumbline: the program /nonexistent/torchrun of the run is not here\n");
  two_ranks({{"launcher.directory", "/nonexistent/jobs"}});
  EXPECT_EQ(run_program({PLUMBLINE_COMMAND, "rerun", scratch_.path("nowhere")}).status, 2);
}

TEST_F(RerunTest, RefusesStepsThatAreNone) {
  two_ranks();
  const Finished finished = rerun({"--steps", "foo"});
  EXPECT_EQ(finished.status, 2);
  EXPECT_EQ(finished.errors, "plumbline: --steps foo: give optimizer steps as 0-9,%100, or all, or none\n");
}

TEST_F(RerunTest, RefusesADirectoryThatIsGone) {
  two_ranks({{"launcher.directory", "/nonexistent/jobs"}});
  EXPECT_EQ(rerun({}).errors,
            "plumbline: the directory /nonexistent/jobs, in which the run was started, is not here\n");
}

}  // namespace
}  // namespace plumbline::tools
