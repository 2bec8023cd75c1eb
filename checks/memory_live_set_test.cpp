#include "checks/memory_live_set.hpp"

#include <gtest/gtest.h>

#include <functional>

#include "checks/testing/fake_rank.hpp"

namespace plumbline::checks {
namespace {

using reader::testing::open_run;
using reader::testing::TempDir;
using recorder::Source;
using testing::FakeRank;

constexpr std::uint64_t kMiB = 1 << 20;

using Use = std::function<void(const reader::Trace&, const LiveSet&)>;

// The live set at the end of the job, of its first pool.
void with_live_set(const std::function<void(FakeRank&)>& job, std::int64_t step, const Use& use) {
  const TempDir directory;
  FakeRank rank(directory.path(), 0, 1);
  job(rank);
  rank.exit(0);
  const reader::Run run = open_run(directory.path());
  const reader::Trace& trace = run.traces()[0];
  MemoryLedger ledger(trace);
  trace.read(MemoryLedger::query(), [&](const reader::FrameView& frame) {
    ledger.add(frame, [](const MemoryEvent&) {});
    return true;
  });
  use(trace, live_set_of(ledger, 0, trace.last_ns(), step, trace.steps().count() > 0));
}

TEST(LiveSetTest, BlocksAreGroupedByAgeAndRange) {
  const auto job = [](FakeRank& rank) {
    rank.alloc(1, 0x1000, 8 * kMiB);
    rank.step(2, 3);
    rank.alloc(4, 0x2000000, kMiB);
    rank.step(5, 6);
    const auto forward = rank.open_range(7, "forward");
    rank.alloc(8, 0x4000000, 2 * kMiB);
    rank.alloc(9, 0x6000000, 3 * kMiB);
    rank.close_range(10, forward, "forward");
    rank.step(11, 12);
  };
  with_live_set(job, 2, [](const reader::Trace& trace, const LiveSet& set) {
    EXPECT_EQ(set.bytes, 14 * kMiB);
    EXPECT_EQ(set.blocks, 4U);
    ASSERT_EQ(set.largest.size(), 4U);
    EXPECT_EQ(set.largest[0].size, 8 * kMiB);
    EXPECT_EQ(set.largest[3].size, kMiB);
    ASSERT_EQ(set.groups.size(), 3U);
    EXPECT_EQ(origin_text(trace, set.groups[0], 2), "made before the end of step 0");
    EXPECT_EQ(set.groups[1].blocks, 2U);
    EXPECT_EQ(set.groups[1].largest.size, 3 * kMiB);
    EXPECT_EQ(origin_text(trace, set.groups[1], 2), "made in step 2 in forward");
    EXPECT_EQ(origin_text(trace, set.groups[2], 2), "made in earlier steps");
  });
}

TEST(LiveSetTest, SegmentsTellWhatIsReservedAndItsHoles) {
  const auto job = [](FakeRank& rank) {
    constexpr std::uint64_t kBegin = 0x10000000;
    rank.alloc(1, kBegin + 4 * kMiB, 4 * kMiB, Source::kCachingBlock, 0);
    // Two parts of one expandable segment join.
    rank.alloc(2, kBegin, 16 * kMiB, Source::kCachingSegment, 0);
    rank.alloc(3, kBegin + 16 * kMiB, 16 * kMiB, Source::kCachingSegment, 0);
  };
  with_live_set(job, 0, [](const reader::Trace&, const LiveSet& set) {
    EXPECT_EQ(set.reserved, 32 * kMiB);
    EXPECT_EQ(set.unused, 28 * kMiB);
    EXPECT_EQ(set.largest_hole, 24 * kMiB);
  });
}

TEST(LiveSetTest, SegmentsOfAnotherDeviceDoNotCount) {
  const auto job = [](FakeRank& rank) {
    rank.alloc(1, 0x10000000, kMiB, Source::kCachingBlock, 0);
    rank.alloc(2, 0x20000000, 16 * kMiB, Source::kCachingSegment, 1);
  };
  with_live_set(job, 0, [](const reader::Trace&, const LiveSet& set) { EXPECT_EQ(set.reserved, 0U); });
}

TEST(LiveSetTest, WithoutSegmentsNothingIsKnownOfHoles) {
  with_live_set([](FakeRank& rank) { rank.alloc(1, 0x1000, kMiB); }, 0,
                [](const reader::Trace& trace, const LiveSet& set) {
                  EXPECT_EQ(set.reserved, 0U);
                  EXPECT_EQ(set.largest_hole, 0U);
                  ASSERT_EQ(set.groups.size(), 1U);
                  EXPECT_EQ(origin_text(trace, set.groups[0], 0), "made outside of all ranges");
                });
}

}  // namespace
}  // namespace plumbline::checks
