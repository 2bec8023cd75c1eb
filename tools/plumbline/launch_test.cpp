#include "tools/plumbline/launch.hpp"

#include <gtest/gtest.h>

#include <sstream>

#include "tools/plumbline/scratch_directory.hpp"
#include "tools/plumbline/subprocess.hpp"

namespace plumbline::tools {
namespace {

TEST(WithPreload, KeepsWhatIsThere) {
  EXPECT_EQ(with_preload("", "/lib/ours.so"), "/lib/ours.so");
  EXPECT_EQ(with_preload("libjemalloc.so.2", "/lib/ours.so"), "libjemalloc.so.2:/lib/ours.so");
  EXPECT_EQ(with_preload("a.so b.so", "/lib/ours.so"), "a.so b.so:/lib/ours.so");
}

TEST(WithPreload, NamesTheObjectOnce) {
  EXPECT_EQ(with_preload("/lib/ours.so", "/lib/ours.so"), "/lib/ours.so");
  EXPECT_EQ(with_preload("a.so /lib/ours.so:b.so", "/lib/ours.so"), "a.so /lib/ours.so:b.so");
  EXPECT_EQ(with_preload("/lib/ours.so.1", "/lib/ours.so"), "/lib/ours.so.1:/lib/ours.so");
}

// What `plumbline run` says on standard error of a job that only prints "ran".
class RunTest : public ::testing::Test {
 protected:
  Finished run(std::vector<std::string> options, const std::vector<std::string>& environment = {}) {
    std::vector<std::string> command = {"env", "PLUMBLINE_CACHE=" + scratch_.path("cache")};
    command.insert(command.end(), environment.begin(), environment.end());
    command.insert(command.end(), {PLUMBLINE_COMMAND, "run", "--python", "/nonexistent/python"});
    command.insert(command.end(), options.begin(), options.end());
    command.insert(command.end(), {"--", "echo", "ran"});
    return run_program(command);
  }

  const ScratchDirectory scratch_;
};

TEST_F(RunTest, SaysWhereItRecords) {
  const Finished finished = run({"--dir", scratch_.path("")});
  EXPECT_EQ(finished.output, "ran\n");
  EXPECT_NE(finished.errors.find("plumbline: recording into " + scratch_.path("")), std::string::npos)
      << finished.errors;
  EXPECT_NE(finished.errors.find("a job without collectives leaves no trace at all"), std::string::npos)
      << finished.errors;
}

TEST_F(RunTest, AnnouncesNoRecordingThatIsSwitchedOff) {
  for (const auto& finished : {run({}, {"PLUMBLINE_DISABLE=1"}), run({}, {"PLUMBLINE_LEVEL=off"}),
                               run({"--level", "off"}), run({"--level", "off"}, {"PLUMBLINE_LEVEL=watch"})}) {
    EXPECT_EQ(finished.output, "ran\n");
    EXPECT_EQ(finished.errors.find("recording into"), std::string::npos) << finished.errors;
    EXPECT_NE(finished.errors.find("the job runs unrecorded"), std::string::npos) << finished.errors;
  }
}

TEST_F(RunTest, AnnouncesNoRecordingIntoAPlaceThatTakesNone) {
  for (const std::string& place :
       {std::string("/proc"), scratch_.write("file", "x"), scratch_.path(std::string(300, 'x'))}) {
    const Finished finished = run({"--dir", place});
    EXPECT_EQ(finished.output, "ran\n");
    EXPECT_EQ(finished.errors.find("recording into"), std::string::npos) << finished.errors;
    EXPECT_NE(finished.errors.find("the job runs unrecorded"), std::string::npos) << finished.errors;
  }
}

TEST_F(RunTest, ShowsBadSettings) {
  const Finished finished = run({"--dir", scratch_.path("")}, {"PLUMBLINE_LEVLE=off"});
  EXPECT_NE(finished.errors.find("plumbline: setting: PLUMBLINE_LEVLE is not a setting"), std::string::npos)
      << finished.errors;
}

TEST(CommandLine, EveryComplaintHasThePrefix) {
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"nope"}, {"run", "--level", "loud", "--", "x"}, {"run"}, {}, {"doctor", "--nope"}}) {
    std::vector<std::string> command = {PLUMBLINE_COMMAND};
    command.insert(command.end(), words.begin(), words.end());
    const Finished finished = run_program(command);
    EXPECT_EQ(finished.status, 2);
    EXPECT_EQ(finished.output, "");
    std::istringstream lines(finished.errors);
    for (std::string line; std::getline(lines, line);) EXPECT_TRUE(line.starts_with("plumbline: ")) << line;
  }
  EXPECT_NE(run_program({PLUMBLINE_COMMAND, "nope"}).errors.find("there is no command nope; there are: run,"),
            std::string::npos);
}

}  // namespace
}  // namespace plumbline::tools
