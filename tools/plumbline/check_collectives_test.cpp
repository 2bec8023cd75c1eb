#include "tools/plumbline/check_collectives.hpp"

#include <gtest/gtest.h>

#include "checks/testing/fake_rank.hpp"
#include "tools/plumbline/scratch_directory.hpp"
#include "tools/plumbline/subprocess.hpp"

namespace plumbline::tools {
namespace {

using Words = std::vector<std::string>;

const Words kProbe = {"probe.py", "--output", "/o"};

TEST(WithProbe, TakesThePlaceOfTheScript) {
  EXPECT_EQ(with_probe({"torchrun", "--nproc-per-node", "2", "train.py", "--lr", "1"}, kProbe),
            (Words{"torchrun", "--nproc-per-node", "2", "probe.py", "--output", "/o"}));
  EXPECT_EQ(with_probe({"torchrun", "--nproc-per-node=2", "-m", "package.train", "--lr", "1"}, kProbe),
            (Words{"torchrun", "--nproc-per-node=2", "probe.py", "--output", "/o"}));
  EXPECT_EQ(with_probe({"srun", "-n", "8", "python", "/jobs/train.py"}, kProbe),
            (Words{"srun", "-n", "8", "python", "probe.py", "--output", "/o"}));
}

TEST(WithProbe, KeepsALauncherThatIsAModule) {
  EXPECT_EQ(with_probe({"python", "-m", "torch.distributed.run", "--standalone", "train.py"}, kProbe),
            (Words{"python", "-m", "torch.distributed.run", "--standalone", "probe.py", "--output", "/o"}));
}

TEST(WithProbe, FollowsALauncherWithoutAScript) {
  EXPECT_EQ(with_probe({"torchrun", "--nproc-per-node", "2"}, kProbe),
            (Words{"torchrun", "--nproc-per-node", "2", "probe.py", "--output", "/o"}));
}

// Launchers that are shell scripts: they write what ranks would have left.
class CheckCollectivesTest : public ::testing::Test {
 protected:
  Finished check(const std::string& script, const Words& options = {}) {
    // The words after the launcher's own are the probe's: "$1" its script, "$3" the directory of its results.
    const std::string launcher = scratch_.write_program("launcher", "#!/bin/sh\n" + script);
    Words command = {PLUMBLINE_COMMAND, "check-collectives"};
    command.insert(command.end(), options.begin(), options.end());
    command.insert(command.end(), {"--", launcher, "train.py"});
    return run_program(command);
  }
  static std::string rank(int number, const std::string& lines) {
    return "cat > $3/rank-" + std::to_string(number) + ".jsonl <<'END'\n" +
           R"({"rank": 0, "world": 2, "backend": "gloo", "device": "cpu", "torch": "2.11.0"})" + "\n" + lines +
           "\nEND\n";
  }
  const ScratchDirectory scratch_;
  const std::string call_ = R"({"begin": "all_reduce sum of 7 float32 over ranks 0,1"})";
  const std::string end_ = "\n{\"end\": 1}";
};

TEST_F(CheckCollectivesTest, PassesWhenEveryRankEnded) {
  const Finished finished = check(rank(0, call_ + end_) + rank(1, call_ + end_) + "echo chatter\n");
  EXPECT_EQ(finished.status, 0) << finished.output << finished.errors;
  EXPECT_EQ(finished.output, "pass: every result is as it should be; 2 calls on 2 ranks, gloo, torch 2.11.0\n");
  EXPECT_NE(finished.errors.find("chatter"), std::string::npos);
}

TEST_F(CheckCollectivesTest, ShowsEachDifference) {
  const std::string fail =
      "\n{\"fail\": \"all_reduce sum of 7 float32 over ranks 0,1\", \"element\": 3, \"found\": 5.5, \"wanted\": 6, "
      "\"differ\": 2, \"elements\": 7}";
  const std::string skip = "\n{\"skip\": \"all_to_all\", \"why\": \"Backend gloo does not support alltoall\"}";
  const Finished finished = check(rank(0, call_ + skip + end_) + rank(1, call_ + fail + skip + end_));
  EXPECT_EQ(finished.status, 1);
  EXPECT_EQ(finished.output,
            "rank 1: all_reduce sum of 7 float32 over ranks 0,1: element 3 is 5.5, not 6 (2 of 7 differ)\n"
            "not tried: all_to_all (Backend gloo does not support alltoall)\n"
            "fail: 1 difference of 2 calls on 2 ranks, gloo, torch 2.11.0\n");
}

TEST_F(CheckCollectivesTest, CountsACallThatRaises) {
  const std::string raised = "\n{\"raised\": \"barrier\", \"why\": \"Connection reset by peer\"}";
  const Finished finished = check(rank(0, call_ + raised) + rank(1, call_ + end_));
  EXPECT_EQ(finished.status, 1);
  EXPECT_NE(finished.output.find("rank 0: barrier failed: Connection reset by peer\n"), std::string::npos)
      << finished.output;
}

TEST_F(CheckCollectivesTest, IsInconclusiveWithoutEveryRanksEnd) {
  const Finished finished = check(rank(0, call_ + "\n{\"beg") + "exit 9\n");
  EXPECT_EQ(finished.status, 3);
  EXPECT_EQ(finished.output,
            "rank 0 did not come out of all_reduce sum of 7 float32 over ranks 0,1\n"
            "rank 1 left no result\n"
            "inconclusive: 2 ranks without a result; 1 call on 2 ranks, gloo, torch 2.11.0\n");
  const Finished nothing = check("exit 9\n");
  EXPECT_EQ(nothing.status, 3);
  EXPECT_EQ(nothing.output, "inconclusive: no rank came to its first collective; the launcher ended with status 9\n");
}

TEST_F(CheckCollectivesTest, HandsItsOptionsToTheProbe) {
  const Finished finished = check(
      "echo \"$@\"\n", {"--backend", "gloo", "--groups", "0,1;2,3", "--seconds", "5", "--dir", scratch_.path("")});
  EXPECT_NE(finished.errors.find("--seconds 5 --backend gloo --groups 0,1;2,3"), std::string::npos) << finished.errors;
  EXPECT_NE(finished.errors.find(scratch_.path("") + "plumbline-collectives-"), std::string::npos) << finished.errors;
}

TEST_F(CheckCollectivesTest, TakesTheGroupsOfARun) {
  for (int number : {0, 1, 2}) {
    checks::testing::FakeRank process(scratch_.path("run"), number, 3);
    process.group("0", "default_pg", "0,1,2");
    if (number != 1) process.group("1", "pair", "0,2");
    process.exit(0);
  }
  const Finished finished = check("echo \"$@\"\n", {"--run", scratch_.path("run")});
  EXPECT_NE(finished.errors.find("--groups 0,1,2;0,2"), std::string::npos) << finished.errors;
}

TEST_F(CheckCollectivesTest, RefusesWhatItCannotStart) {
  EXPECT_EQ(run_program({PLUMBLINE_COMMAND, "check-collectives", "--", "plumbline-no-such-program"}).status, 2);
  EXPECT_EQ(run_program({PLUMBLINE_COMMAND, "check-collectives"}).status, 2);
  for (const char* groups : {"a", "0,0", "0,,1", "-1", "0,99999999999"}) {
    const Finished finished = check("exit 0\n", {"--groups", groups});
    EXPECT_EQ(finished.status, 2) << groups;
    EXPECT_NE(finished.errors.find("give ranks as 0,1;2,3"), std::string::npos) << finished.errors;
  }
  for (const char* backend : {"foo", "gloo,", ":gloo", "cpu:gloo,cuda:foo"}) {
    const Finished finished = check("exit 0\n", {"--backend", backend});
    EXPECT_EQ(finished.status, 2) << backend;
    EXPECT_NE(finished.errors.find("give gloo, nccl, mpi or ucc"), std::string::npos) << finished.errors;
  }
  EXPECT_NE(check("exit 0\n", {"--backend", "cpu:gloo,cuda:nccl"}).status, 2);
  EXPECT_EQ(run_program({"env", "TMPDIR=/nonexistent", PLUMBLINE_COMMAND, "check-collectives", "--", "true"}).status,
            2);
  EXPECT_EQ(check("exit 0\n", {"--dir", "/nonexistent"}).status, 2);
  EXPECT_EQ(check("exit 0\n", {"--run", "/nonexistent"}).status, 2);
}

}  // namespace
}  // namespace plumbline::tools
