#include "tools/plumbline/subprocess.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

namespace plumbline::tools {
namespace {

TEST(Subprocess, CollectsBothStreamsAndTheStatus) {
  const Finished finished = run_program({"sh", "-c", "echo out; echo err >&2; exit 3"});
  EXPECT_EQ(finished.status, 3);
  EXPECT_EQ(finished.output, "out\n");
  EXPECT_EQ(finished.errors, "err\n");
}

TEST(Subprocess, ReadsMoreThanAPipeHolds) {
  const Finished finished = run_program({"sh", "-c", "head -c 300000 /dev/zero >&2; head -c 300000 /dev/zero"});
  EXPECT_EQ(finished.output.size(), 300000u);
  EXPECT_EQ(finished.errors.size(), 300000u);
}

TEST(Subprocess, TellsAProgramThatIsNotThere) {
  const Finished finished = run_program({"plumbline-no-such-program"});
  EXPECT_EQ(finished.status, 127);
  EXPECT_NE(finished.errors.find("No such file"), std::string::npos);
}

TEST(Subprocess, TellsTheSignal) { EXPECT_EQ(run_program({"sh", "-c", "kill -9 $$"}).status, 128 + 9); }

TEST(Subprocess, PreloadsNothing) {
  setenv("LD_PRELOAD", "", 1);
  EXPECT_EQ(run_program({"sh", "-c", "echo ${LD_PRELOAD-none}"}).output, "none\n");
  unsetenv("LD_PRELOAD");
}

TEST(Subprocess, RunsSeveralInOrderAndStopsAfterAFailure) {
  const auto all = run_programs({{"sh", "-c", "echo 1"}, {"sh", "-c", "echo 2"}, {"sh", "-c", "echo 3"}}, 2);
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[0].output + all[1].output + all[2].output, "1\n2\n3\n");

  const auto stopped = run_programs({{"false"}, {"true"}, {"true"}}, 1);
  EXPECT_EQ(stopped[0].status, 1);
  EXPECT_EQ(stopped[1].status, -1);
  EXPECT_EQ(stopped[2].status, -1);
}

TEST(FindProgram, LooksInThePath) {
  EXPECT_EQ(find_program("/bin/sh"), "/bin/sh");
  EXPECT_NE(find_program("sh"), "");
  EXPECT_EQ(find_program("plumbline-no-such-program"), "");
  EXPECT_EQ(find_program("/etc/passwd"), "");
  EXPECT_EQ(find_program(""), "");
  EXPECT_EQ(find_program("/etc"), "") << "a directory can be entered, and not run";
}

}  // namespace
}  // namespace plumbline::tools
