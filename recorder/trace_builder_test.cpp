#include "recorder/trace_builder.hpp"

#include <gtest/gtest.h>

#include <fstream>

#include "recorder/testing/child.hpp"
#include "recorder/testing/records.hpp"
#include "recorder/testing/trace_contents.hpp"
#include "recorder/text_hash.hpp"

namespace plumbline::recorder {
namespace {

using testing::read_trace;
using testing::ScratchDirectory;

TEST(TraceBuilder, WritesAWholeTrace) {
  const ScratchDirectory scratch;
  TraceBuilder trace(scratch.path(), {.host = "node1", .pid = 17, .rank = 3, .world_size = 8, .attempt = 1});
  trace.fact("torch", "2.11.0");
  trace.thread(0, 17, "main");
  const std::uint64_t group = trace.group("dp", "data parallel", "gloo", "1,3,5", 1, 3);
  const std::uint64_t name = trace.text("forward");
  trace.add(0, testing::collective_record(2'000'000'000, 1, group));
  trace.add(0, testing::range_record(Kind::kRangeBegin, 2'000'000'001, name, 5));
  trace.add(1, testing::mark_record(Kind::kCollectiveEnd, 2'000'000'002, 1, Outcome::kCompleted));
  trace.drop(Kind::kAlloc, 4);
  trace.hooks(3, {{"c10d backend calls", true, 1, ""}});
  trace.finish({.status = 1, .exception_class = "RuntimeError"});
  ASSERT_EQ(trace.error(), "");
  EXPECT_TRUE(trace.path().ends_with("/rank3-a1-node1-17.plt"));

  const auto contents = read_trace(trace.path());
  ASSERT_EQ(contents.processes.size(), 1u);
  EXPECT_EQ(contents.processes[0].rank, 3);
  EXPECT_EQ(contents.processes[0].world_size, 8);
  EXPECT_EQ(contents.processes[0].host, "node1");
  EXPECT_EQ(contents.facts.find("torch")->second, "2.11.0");
  EXPECT_EQ(contents.threads.at(0), "main");
  ASSERT_EQ(contents.groups.size(), 1u);
  EXPECT_EQ(contents.groups[0].id, group);
  EXPECT_EQ(contents.groups[0].ranks, (std::vector<int>{1, 3, 5}));
  EXPECT_EQ(contents.groups[0].description, "data parallel");
  EXPECT_EQ(contents.texts.at(name), "forward");
  EXPECT_EQ(contents.events.size(), 3u);
  EXPECT_FALSE(contents.undefined_use);
  EXPECT_EQ(contents.dropped.at(2), 4u);
  EXPECT_EQ(contents.hooks.at("c10d backend calls"), 1u);
  EXPECT_EQ(contents.heads.at(0), 5u);
  EXPECT_EQ(contents.exit_status, 1);
  EXPECT_EQ(contents.exception_class, "RuntimeError");
  EXPECT_TRUE(contents.has_seek_table);
}

TEST(TraceBuilder, StacksComeWithTheirTextsAndModules) {
  const ScratchDirectory scratch;
  TraceBuilder trace(scratch.path());
  const StackFrameDetails python{0, trace.text("step"), trace.text("train.py"), 42};
  trace.stack({2'000'000'000,
               17,
               "python",
               StackReason::kFatalSignal,
               11,
               {python},
               {{0x1234}, {0x5678}},
               kTrainingThread | kHoldsInterpreterLock});
  trace.module({0x1000, 0x2000, 0x40, "/lib/libc.so.6", "abcd"});
  trace.finish({});
  const auto contents = read_trace(trace.path());
  EXPECT_FALSE(contents.undefined_use);
  ASSERT_EQ(contents.stacks.size(), 1u);
  EXPECT_EQ(contents.stacks[0].thread_name, "python");
  EXPECT_EQ(contents.stacks[0].tid, 17u);
  EXPECT_EQ(contents.stacks[0].reason, 1u);
  EXPECT_EQ(contents.stacks[0].detail, 11u);
  EXPECT_EQ(contents.stacks[0].flags, 3u);
  EXPECT_EQ(contents.stacks[0].python, (std::vector<std::string>{"train.py:42 step"}));
  EXPECT_EQ(contents.stacks[0].native, (std::vector<std::uint64_t>{0x1234, 0x5678}));
  ASSERT_EQ(contents.modules.size(), 1u);
  EXPECT_EQ(contents.modules[0].end, 0x2000u);
  EXPECT_EQ(contents.modules[0].file_offset, 0x40u);
  EXPECT_EQ(contents.modules[0].build_id, "abcd");
}

TEST(TraceBuilder, WithoutItsFinishTheProcessLooksKilled) {
  const ScratchDirectory scratch;
  std::string path;
  {
    TraceBuilder trace(scratch.path());
    trace.add(0, testing::alloc_record(1, 1, 1));
    path = trace.path();
  }
  const auto contents = read_trace(path);
  EXPECT_EQ(contents.events.size(), 1u);
  EXPECT_FALSE(contents.has_exit);
  EXPECT_FALSE(contents.has_seek_table);
}

TEST(TraceBuilder, MakesFramesOfTheAskedSize) {
  const ScratchDirectory scratch;
  TraceBuilder trace(scratch.path(), {.frame_records = 10});
  for (std::uint64_t i = 1; i <= 95; ++i) trace.add(0, testing::alloc_record(i, i, i));
  trace.finish({});
  EXPECT_EQ(read_trace(trace.path()).frames, 1u + 10u + 1u);  // Process, events, Exit
}

TEST(TraceBuilder, ManyRanksShareADirectory) {
  const ScratchDirectory scratch;
  for (std::int32_t rank = 0; rank < 4; ++rank) {
    TraceBuilder trace(scratch.path(), {.pid = 100 + static_cast<std::uint32_t>(rank), .rank = rank});
    trace.finish({});
    EXPECT_EQ(trace.error(), "");
  }
  EXPECT_EQ(testing::files_in(scratch.path()).size(), 4u);
}

TEST(TraceBuilder, SaysWhatWentWrong) {
  const ScratchDirectory scratch;
  std::ofstream(scratch / "file") << "x";
  TraceBuilder trace(scratch / "file/run");
  trace.add(0, testing::alloc_record(1, 1, 1));
  trace.finish({});
  EXPECT_NE(trace.error().find("cannot make the run directory"), std::string::npos);
}

TEST(TextHash, IsTheSameEverywhereAndNeverZero) {
  EXPECT_EQ(text_hash("DistributedDataParallel.forward"), text_hash("DistributedDataParallel.forward"));
  EXPECT_NE(text_hash("a"), text_hash("b"));
  EXPECT_NE(text_hash(""), 0u);
  EXPECT_EQ(group_hash("dp", "0,1"), group_hash("dp", "0,1"));
  EXPECT_NE(group_hash("dp", "0,1"), group_hash("dp", "2,3"));
  EXPECT_NE(group_hash("dp", "0,1"), group_hash("tp", "0,1"));
}

}  // namespace
}  // namespace plumbline::recorder
