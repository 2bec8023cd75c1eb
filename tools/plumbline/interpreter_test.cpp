#include "tools/plumbline/interpreter.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

#include "tools/plumbline/scratch_directory.hpp"

namespace plumbline::tools {
namespace {

class Interpreter : public testing::Test {
 protected:
  void SetUp() override {
    python = scratch.write_program("bin/python3.11", "");
    const char* path = std::getenv("PATH");
    earlier_path = path != nullptr ? path : "";
    setenv("PATH", (scratch.path("bin") + ":/usr/bin:/bin").c_str(), 1);
  }
  void TearDown() override { setenv("PATH", earlier_path.c_str(), 1); }

  ScratchDirectory scratch;
  std::string python;
  std::string earlier_path;
};

TEST_F(Interpreter, OfAScript) {
  EXPECT_EQ(script_interpreter(scratch.write("direct", "#!" + python + "\nimport torch\n")), python);
  EXPECT_EQ(script_interpreter(scratch.write("options", "#!" + python + " -u\n")), python);
  EXPECT_EQ(script_interpreter(scratch.write("env", "#!/usr/bin/env python3.11\n")), python);
}

TEST_F(Interpreter, OfAScriptWhosePathIsTooLongForTheKernel) {
  EXPECT_EQ(script_interpreter(scratch.write("long", "#!/bin/sh\n'''exec' \"" + python + "\" \"$0\" \"$@\"\n' '''\n")),
            python);
}

TEST_F(Interpreter, OfOtherFiles) {
  EXPECT_EQ(script_interpreter(scratch.write("shell", "#!/bin/sh\npython3.11 train.py\n")), "");
  EXPECT_EQ(script_interpreter(scratch.write("text", "python3.11\n")), "");
  EXPECT_EQ(script_interpreter(scratch.write("empty", "")), "");
  EXPECT_EQ(script_interpreter(scratch.path("missing")), "");
  EXPECT_EQ(script_interpreter(scratch.write("other", "#!/opt/pythonic/run\n")), "");
}

TEST_F(Interpreter, OfACommand) {
  const std::string torchrun = scratch.write_program("bin/torchrun", "#!" + python + "\n");
  EXPECT_EQ(find_interpreter({"torchrun", "--nproc-per-node", "2", "train.py"}), python);
  EXPECT_EQ(find_interpreter({"python3.11", "train.py"}), python);
  EXPECT_EQ(find_interpreter({python, "train.py"}), python);
  EXPECT_EQ(find_interpreter({"env", "A=1", "torchrun", "train.py"}), python);
}

TEST_F(Interpreter, OfACommandThatNamesNone) {
  scratch.write_program("bin/python3", "");
  EXPECT_EQ(find_interpreter({"sh", "start.sh"}), scratch.path("bin/python3"));
  EXPECT_EQ(find_interpreter({}), scratch.path("bin/python3"));
  setenv("PATH", scratch.path("none").c_str(), 1);
  EXPECT_EQ(find_interpreter({"sh", "start.sh"}), "");
}

}  // namespace
}  // namespace plumbline::tools
