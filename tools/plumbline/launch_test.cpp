#include "tools/plumbline/launch.hpp"

#include <gtest/gtest.h>

#include <algorithm>
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

TEST(CommandLine, ARefusalSaysWhatToGiveInstead) {
  const auto says = [](std::vector<std::string> words, const std::string& sentence, int status = 2) {
    words.insert(words.begin(), PLUMBLINE_COMMAND);
    const Finished finished = run_program(words);
    EXPECT_EQ(finished.status, status) << sentence;
    EXPECT_NE(finished.errors.find(sentence), std::string::npos) << finished.errors;
    EXPECT_EQ(std::count(finished.errors.begin(), finished.errors.end(), '\n'), 1) << finished.errors;
  };
  says({}, "which command? there are: run, ");
  says({"run", "--nope", "--", "true"}, "run does not take --nope");
  says({"check-collectives", "--nope", "x", "--", "true"}, "check-collectives does not take --nope");
  says({"rerun", "x", "--lr", "5"}, "rerun does not take --lr 5");
  says({"rerun"}, "rerun needs RUN: the run directory");
  says({"run", "--level", "off", "--level", "watch", "--", "true"}, "run takes --level only once");
  says({"run", "--", ""}, "'' cannot be started: there is no such program", 127);
  says({"run", "--", "plumbline-no-such-program"}, "there is no such program", 127);
  says({"run", "--", "/etc"}, "it is no program", 126);
  for (const char* nobody : {"0", "-1", "99999999999999999999", "nowhere"})
    says({"doctor", nobody}, "give a process number or a run directory");
  says({"doctor", ""}, "give a process number or a run directory");
}

// A job whose directory was deleted below it: it runs on, unrecorded.
TEST(CommandLine, ACurrentDirectoryThatIsGone) {
  const ScratchDirectory scratch;
  const std::string gone = scratch.path("gone");
  const std::string script = "mkdir " + gone + " && cd " + gone + " && rmdir " + gone + " && exec \"$@\"";
  const auto in_gone = [&](std::vector<std::string> words) {
    words.insert(words.begin(), {"sh", "-c", script, "sh", PLUMBLINE_COMMAND});
    return run_program(words);
  };
  const Finished ran = in_gone({"run", "--python", "/nonexistent/python", "--", "echo", "ran"});
  EXPECT_EQ(ran.output, "ran\n");
  EXPECT_EQ(ran.status, 0);
  EXPECT_NE(ran.errors.find("the job runs unrecorded"), std::string::npos) << ran.errors;
  EXPECT_EQ(in_gone({"doctor", "--python", "/nonexistent/python"}).status, 1);
}

}  // namespace
}  // namespace plumbline::tools
