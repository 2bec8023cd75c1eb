#include "tools/run_reader/stack_groups.hpp"

#include <gtest/gtest.h>

#include <sstream>

#include "tools/run_reader/text.hpp"

namespace plumbline::tools {
namespace {

reader::Stack stalled(std::string_view function, std::uint64_t seconds = 2) {
  reader::Stack stack;
  stack.thread_name = "python";
  stack.detail = seconds * 1'000'000'000;
  stack.flags = recorder::kTrainingThread | recorder::kIdle;
  stack.python = {{0, std::string(function), "/job/train.py", 10}};
  stack.native = {{0x7f00, "read", "/lib/libc.so.6", 0}};
  return stack;
}

std::string text_of(const StackGroups& groups) { return groups.text(Style(false)); }

TEST(StackGroups, EqualStacksOfSeveralRanksAreOne) {
  StackGroups groups;
  groups.add(0, 5, stalled("wait"));
  groups.add(2, 6, stalled("wait"));
  reader::Stack elsewhere = stalled("wait");
  elsewhere.native[0].pc = 0x7fff;  // the same function at another address
  groups.add(3, 6, elsewhere);
  groups.add(1, 5, stalled("load"));
  EXPECT_EQ(text_of(groups),
            "rank 1: the training thread, stalled for 2.0 s, waits, at 5.0 s\n"
            "  python  load                                     /job/train.py:10\n"
            "  native  read                                     libc.so.6\n"
            "\n"
            "ranks 0,2,3: the training thread, stalled for 2.0 s, waits, at 5.0 s\n"
            "  python  wait                                     /job/train.py:10\n"
            "  native  read                                     libc.so.6\n"
            "\n");
}

TEST(StackGroups, SeveralLooksAtOneStallAreOne) {
  StackGroups groups;
  groups.add(0, 5, stalled("wait", 2));
  groups.add(0, 7, stalled("wait", 4));
  const std::string text = text_of(groups);
  EXPECT_NE(text.find("stalled for 4.0 s, waits, at 5.0 s and up to 7.0 s"), std::string::npos) << text;
}

TEST(StackGroups, TrainingThreadsComeFirstAndThenPython) {
  StackGroups groups;
  reader::Stack native = stalled("x");
  native.flags = 0;
  native.python.clear();
  native.thread_name = "pt_gloo_runloop";
  groups.add(0, 1, native);
  reader::Stack worker = stalled("y");
  worker.flags = recorder::kHoldsInterpreterLock;
  worker.thread_name = "loader";
  groups.add(0, 1, worker);
  groups.add(0, 1, stalled("z"));
  const std::string text = text_of(groups);
  EXPECT_LT(text.find("the training thread"), text.find("thread loader"));
  EXPECT_LT(text.find("thread loader"), text.find("thread pt_gloo_runloop"));
  EXPECT_NE(text.find("holds the interpreter lock, runs"), std::string::npos) << text;
}

TEST(StackGroups, EveryReasonIsSaid) {
  const auto heading = [](reader::StackReason reason, std::uint64_t detail) {
    StackGroups groups;
    reader::Stack stack = stalled("f");
    stack.reason = reason;
    stack.detail = detail;
    groups.add(4, 1, stack);
    return text_of(groups).substr(0, text_of(groups).find('\n'));
  };
  EXPECT_NE(heading(reader::StackReason::kFatalSignal, 11).find("fatal signal 11 (Segmentation fault)"),
            std::string::npos);
  EXPECT_NE(heading(reader::StackReason::kLargeAllocation, 1 << 30).find("asks for 1.0 GiB"), std::string::npos);
  EXPECT_NE(heading(reader::StackReason::kFailedAllocation, 1 << 30).find("failed to get 1.0 GiB"), std::string::npos);
  EXPECT_NE(heading(reader::StackReason::kImported, 0).find("imported"), std::string::npos);
}

TEST(StackGroups, LinesFitTheTerminal) {
  StackGroups groups;
  reader::Stack stack = stalled(std::string(200, 'f'));
  stack.python[0].file = "/" + std::string(300, 'd') + "/train.py";
  stack.native[0].function = "c10d::ProcessGroupGloo::AsyncWork::execute(" + std::string(200, 'a') + ")";
  groups.add(0, 1, stack);
  std::istringstream lines(text_of(groups));
  for (std::string line; std::getline(lines, line);) EXPECT_LE(width_of(line), kColumns) << line;
}

TEST(StackGroups, NothingHostileReachesTheTerminal) {
  StackGroups groups;
  groups.add(0, 1, stalled("f\x1b[31m"));
  EXPECT_EQ(text_of(groups).find('\x1b'), std::string::npos);
}

}  // namespace
}  // namespace plumbline::tools
