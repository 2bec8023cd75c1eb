#include "reader/import/process_writer.hpp"

#include <gtest/gtest.h>

#include "reader/collectives.hpp"
#include "reader/ranges.hpp"
#include "reader/steps.hpp"
#include "reader/testing/records.hpp"

namespace plumbline::reader::imports {
namespace {

constexpr std::uint64_t kStart = 1'700'000'000'000'000'000;

class ProcessWriterTest : public ::testing::Test {
 protected:
  reader::Run written() {
    const Status status = write_process(process_, directory_ / "run", kStart);
    EXPECT_TRUE(status.ok()) << status.message();
    return testing::open_run(directory_ / "run");
  }

  ImportedCall& call(std::uint64_t seq, std::uint64_t time_ns) {
    ImportedCall& call = process_.calls.emplace_back();
    call.enqueue_ns = kStart + time_ns;
    call.group = process_.group({"3", "dp", "nccl", {4, 7}, 1, {}});
    call.seq = seq;
    call.op = Op::kAllReduce;
    call.thread = process_.thread(12, "python");
    return call;
  }

  ImportedRange& range(const char* name, std::uint64_t begin, std::uint64_t end) {
    ImportedRange& range = process_.ranges.emplace_back();
    range.name = name;
    range.begin_ns = kStart + begin;
    range.end_ns = kStart + end;
    range.thread = process_.thread(12, "python");
    return range;
  }

  ImportedProcess process_;
  testing::TempDir directory_;
};

TEST_F(ProcessWriterTest, CallsComeBackAsTheyWere) {
  process_.rank = 7;
  process_.formats = {"test"};
  ImportedCall& done = call(41, 1000);
  done.count_in = 12;
  done.dtype = Dtype::kBfloat16;
  done.start_ns = kStart + 3000;
  done.end_ns = kStart + 9000;
  done.outcome = Outcome::kCompleted;
  done.site = "/job/train.py:16 in step";
  call(42, 20'000);
  const reader::Run run = written();
  const Trace& trace = run.traces()[0];
  std::vector<Collective> calls;
  read_collectives(trace, {}, [&](const Collective& one) {
    calls.push_back(one);
    return true;
  });
  ASSERT_EQ(calls.size(), 2U);
  EXPECT_EQ(calls[0].seq, 41U);
  EXPECT_EQ(calls[0].count_in, 12U);
  EXPECT_EQ(calls[0].outcome, Outcome::kCompleted);
  EXPECT_EQ(trace.text(calls[0].site), "/job/train.py:16 in step");
  EXPECT_EQ(trace.group(calls[0].group)->ranks, (std::vector<int>{4, 7}));
  EXPECT_EQ(trace.group(calls[0].group)->rank, 1);
  EXPECT_EQ(calls[1].outcome, Outcome::kPending);
  EXPECT_EQ(trace.exit(), nullptr);
  EXPECT_FALSE(trace.stats().data_lost());
}

TEST_F(ProcessWriterTest, RangesNestWhateverTheirOrder) {
  range("inner", 2000, 3000);
  range("outer", 1000, 9000);
  range("AdamW", 4000, 5000).optimizer_step = true;
  range("AdamW", 14'000, 15'000).optimizer_step = true;
  const reader::Run run = written();
  const Trace& trace = run.traces()[0];
  std::map<std::string, std::uint32_t> depths;
  read_ranges(trace, {}, [&](const Range& one) {
    depths[std::string(trace.text(one.name))] = one.depth;
    EXPECT_GT(one.end_ns, one.begin_ns);
    return true;
  });
  EXPECT_EQ(depths, (std::map<std::string, std::uint32_t>{{"inner", 1}, {"outer", 0}}));
  EXPECT_EQ(trace.steps().count(), 2);
}

TEST_F(ProcessWriterTest, StatusesFactsStacksAndTheExit) {
  process_.rank = 1;
  process_.pid = 99;
  process_.host = "node3";
  process_.formats = {"a", "b"};
  process_.lacks = {"c"};
  process_.facts = {{"k", "v"}};
  ImportedGroup group{"0", "default_pg", "nccl", {0, 1}, 1, {}};
  group.status.emplace().completed = 5;
  process_.group(group);
  ImportedStack& stack = process_.stacks.emplace_back();
  stack.python = {{"f", "/job/a.py", 3, 0}};
  stack.native = {{"wait", "libc.so.6", 0, 0x10}};
  call(1, 5000);
  process_.exit = ImportedExit{kStart + 7000, 1, 0, "ValueError", "bad"};
  const reader::Run run = written();
  const Trace& trace = run.traces()[0];
  EXPECT_EQ(trace.host(), "node3");
  EXPECT_EQ(trace.pid(), 99U);
  EXPECT_EQ(trace.definitions().fact("source.format"), "a, b");
  EXPECT_EQ(trace.definitions().fact("source.lacks"), "c");
  EXPECT_EQ(trace.definitions().fact("k"), "v");
  ASSERT_EQ(group_statuses(trace).size(), 1U);
  EXPECT_EQ(group_statuses(trace)[0].completed, 5);
  ASSERT_EQ(trace.definitions().stacks.size(), 1U);
  EXPECT_EQ(trace.definitions().stacks[0].python[0].file, "/job/a.py");
  EXPECT_EQ(trace.definitions().stacks[0].native[0].function, "wait");
  EXPECT_EQ(trace.definitions().stacks[0].time_ns, kStart + 5000) << "without a time: after all that is known";
  ASSERT_NE(trace.exit(), nullptr);
  EXPECT_EQ(trace.exit()->time_ns, kStart + 7000);
  EXPECT_EQ(trace.exit()->exception_message, "bad");
}

TEST_F(ProcessWriterTest, CallsWithoutATimeKeepTheirOrder) {
  for (std::uint64_t seq = 0; seq < 3; ++seq) call(seq, 0).enqueue_ns = 0;
  const reader::Run run = written();
  std::vector<std::uint64_t> order;
  read_collectives(run.traces()[0], {}, [&](const Collective& one) {
    order.push_back(one.seq);
    EXPECT_GE(one.enqueue_ns, kStart);
    return true;
  });
  EXPECT_EQ(order, (std::vector<std::uint64_t>{0, 1, 2}));
}

TEST_F(ProcessWriterTest, TheFirstTimeIsTheEarliestOfAnything) {
  EXPECT_EQ(first_time(process_), 0U);
  process_.stacks.emplace_back();
  EXPECT_EQ(first_time(process_), 0U) << "a stack without a time says nothing";
  call(1, 500);
  process_.allocations.push_back({kStart + 200, Kind::kAlloc, Source::kCpu, -1, 0x1000, 64});
  EXPECT_EQ(first_time(process_), kStart + 200);
}

TEST_F(ProcessWriterTest, ADirectoryThatCannotBeMadeIsNamed) {
  testing::write_file(directory_ / "file", "x");
  const Status status = write_process(process_, directory_ / "file/run", kStart);
  EXPECT_FALSE(status.ok());
  EXPECT_NE(status.message().find("file/run"), std::string::npos) << status.message();
}

}  // namespace
}  // namespace plumbline::reader::imports
