#include "tools/run_reader/event_text.hpp"

#include <gtest/gtest.h>

#include "checks/testing/fake_rank.hpp"

namespace plumbline::tools {
namespace {

using checks::testing::FakeRank;
using checks::testing::Op;
using checks::testing::Outcome;
using checks::testing::ReduceOp;
using checks::testing::Source;
using reader::testing::open_run;
using reader::testing::TempDir;

// The words of every event of the only trace, in order.
std::vector<std::string> words_of(const TempDir& directory) {
  std::vector<std::string> words;
  const reader::Run run = open_run(directory.path());
  const reader::Trace& trace = run.traces()[0];
  trace.read({}, [&](const reader::FrameView& frame) {
    reader::for_each_row(frame, [&](const reader::Row& row) {
      words.push_back(event_text(trace, frame, row));
      return true;
    });
    return true;
  });
  return words;
}

TEST(EventTextTest, Allocations) {
  const TempDir directory;
  FakeRank rank(directory.path(), 0, 1);
  rank.alloc(1, 0x7f00, 4096);
  rank.free(2, 0x7f00);
  rank.fail(3, std::uint64_t{3} << 30, Source::kCudaMalloc, 1);
  rank.exit(0);
  EXPECT_EQ(words_of(directory),
            (std::vector<std::string>{"cpu 4.0 KiB at 0x7f00", "cpu at 0x7f00", "cuda_malloc device 1 3.0 GiB"}));
}

TEST(EventTextTest, CollectivesAndTheirMarks) {
  const TempDir directory;
  FakeRank rank(directory.path(), 0, 2);
  const auto world = rank.group("0", "default_pg", "0,1");
  const auto call = rank.call(1, world, Op::kAllReduce, {.count = 16});
  rank.start(2, call);
  rank.end(3, call, Outcome::kFailed);
  rank.call(4, world, Op::kBroadcast, {.reduce = ReduceOp::kNone, .peer = 1});
  rank.call(5, world, Op::kSend, {.reduce = ReduceOp::kNone, .peer = 1});
  rank.returned(6, 3, 5);
  rank.exit(0);
  EXPECT_EQ(words_of(directory),
            (std::vector<std::string>{"all_reduce #0, sum of float32[16], default_pg, call 1", "call 1",
                                      "call 1, failed", "broadcast #1, float32[1000], default_pg, call 2, root rank 1",
                                      "send #0, float32[1000], default_pg, call 3, peer rank 1", "call 3, code 5"}));
}

TEST(EventTextTest, ACallOfAGroupThatTheTraceDoesNotDefine) {
  const TempDir directory;
  FakeRank rank(directory.path(), 0, 1);
  rank.call(1, 4242, Op::kBarrier);
  rank.exit(0);
  EXPECT_EQ(words_of(directory).at(0), "barrier #0, group not known, call 1");
}

TEST(EventTextTest, StepsRangesAndSamples) {
  const TempDir directory;
  FakeRank rank(directory.path(), 0, 1);
  rank.range(1, 2, "forward");
  rank.step(3, 4, 0.5);
  rank.resident(5, 1536);
  rank.exit(0);
  const auto words = words_of(directory);
  ASSERT_EQ(words.size(), 6U);
  EXPECT_EQ(words[0], "forward");
  EXPECT_EQ(words[2], "AdamW");
  EXPECT_EQ(words[3], "param group 0 of 1, lr 0.5, weight decay 0.01, its step 0, 4 of 4 parameters with gradient");
  EXPECT_EQ(words[5], "resident_bytes 1.5 KiB");
}

}  // namespace
}  // namespace plumbline::tools
