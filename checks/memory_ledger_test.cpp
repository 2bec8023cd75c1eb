#include "checks/memory_ledger.hpp"

#include <gtest/gtest.h>

#include "checks/testing/fake_rank.hpp"

namespace plumbline::checks {
namespace {

using reader::testing::open_run;
using reader::testing::TempDir;
using recorder::Kind;
using recorder::Source;
using testing::FakeRank;

// A trace read through a ledger: what was told on the way, and what is left.
struct Read {
  std::vector<MemoryEvent> events;
  std::vector<MemoryPool> pools;
  std::vector<MemoryBlock> live;
  std::vector<std::string> ranges;  // of the events' blocks
};

Read read(const TempDir& directory) {
  const reader::Run run = open_run(directory.path());
  const reader::Trace& trace = run.traces()[0];
  MemoryLedger ledger(trace);
  Read seen;
  trace.read(MemoryLedger::query(), [&](const reader::FrameView& frame) {
    ledger.add(frame, [&](const MemoryEvent& event) {
      seen.events.push_back(event);
      seen.ranges.emplace_back(event.block.range == 0 ? "none" : trace.text(event.block.range));
    });
    return true;
  });
  seen.pools = ledger.pools();
  ledger.for_each_live([&](const MemoryBlock& block) { seen.live.push_back(block); });
  return seen;
}

TEST(MemoryLedgerTest, AFreeTellsWhatItFrees) {
  const TempDir directory;
  FakeRank rank(directory.path(), 0, 1);
  rank.alloc(1, 0x1000, 64);
  rank.alloc(2, 0x2000, 100);
  rank.free(3, 0x1000);
  rank.exit(0);
  const Read seen = read(directory);
  ASSERT_EQ(seen.events.size(), 3U);
  EXPECT_EQ(seen.events[2].kind, Kind::kFree);
  EXPECT_EQ(seen.events[2].block.size, 64U);
  EXPECT_EQ(seen.events[2].number, 2U);
  ASSERT_EQ(seen.live.size(), 1U);
  EXPECT_EQ(seen.live[0].address, 0x2000U);
  ASSERT_EQ(seen.pools.size(), 1U);
  EXPECT_EQ(seen.pools[0].live_bytes, 100U);
  EXPECT_EQ(seen.pools[0].live_blocks, 1U);
}

TEST(MemoryLedgerTest, BlocksKnowTheirStepAndInnermostRange) {
  const TempDir directory;
  FakeRank rank(directory.path(), 0, 1);
  const auto outer = rank.open_range(1, "train");
  const auto inner = rank.open_range(2, "forward");
  rank.alloc(3, 0x1000, 64);
  rank.close_range(4, inner, "forward");
  rank.alloc(5, 0x2000, 64);
  rank.step(6, 7);
  rank.close_range(8, outer, "train");
  rank.alloc(9, 0x3000, 64);
  rank.step(10, 11);
  rank.exit(0);
  const Read seen = read(directory);
  ASSERT_EQ(seen.events.size(), 3U);
  EXPECT_EQ(seen.ranges, (std::vector<std::string>{"forward", "train", "none"}));
  EXPECT_EQ(seen.events[0].block.step, 0);
  EXPECT_EQ(seen.events[2].block.step, 1);
}

TEST(MemoryLedgerTest, SourcesAndDevicesAreCountedApart) {
  const TempDir directory;
  FakeRank rank(directory.path(), 0, 1);
  // A block lies at the begin of its segment.
  rank.alloc(1, 0x1000, 10, Source::kCachingBlock, 0);
  rank.alloc(2, 0x1000, 20, Source::kCachingSegment, 0);
  rank.alloc(3, 0x5000, 30, Source::kCachingBlock, 1);
  rank.free(4, 0x1000, Source::kCachingBlock, 0);
  rank.exit(0);
  const Read seen = read(directory);
  ASSERT_EQ(seen.pools.size(), 3U);
  EXPECT_EQ(seen.pools[0].live_bytes, 0U);
  EXPECT_EQ(seen.pools[1].live_bytes, 20U);
  EXPECT_EQ(seen.pools[1].source, Source::kCachingSegment);
  EXPECT_EQ(seen.pools[2].live_bytes, 30U);
  EXPECT_EQ(seen.pools[2].device, 1);
}

TEST(MemoryLedgerTest, AnAddressHandedOutTwiceWasFreedUnseen) {
  const TempDir directory;
  FakeRank rank(directory.path(), 0, 1);
  rank.alloc(1, 0x1000, 10);
  rank.alloc(2, 0x1000, 30);
  rank.exit(0);
  const Read seen = read(directory);
  ASSERT_EQ(seen.pools.size(), 1U);
  EXPECT_EQ(seen.pools[0].lost_frees, 1U);
  EXPECT_EQ(seen.pools[0].live_bytes, 30U);
}

TEST(MemoryLedgerTest, AFreeOfWhatWasNeverSeenHasNoSize) {
  const TempDir directory;
  FakeRank rank(directory.path(), 0, 1);
  rank.free(1, 0x1000);
  rank.exit(0);
  const Read seen = read(directory);
  ASSERT_EQ(seen.events.size(), 1U);
  EXPECT_EQ(seen.events[0].block.size, 0U);
  EXPECT_TRUE(seen.live.empty());
}

TEST(MemoryLedgerTest, ARefusedRequestIsToldAndHoldsNothing) {
  const TempDir directory;
  FakeRank rank(directory.path(), 0, 1);
  rank.fail(1, 1 << 30);
  rank.exit(1);
  const Read seen = read(directory);
  ASSERT_EQ(seen.events.size(), 1U);
  EXPECT_EQ(seen.events[0].kind, Kind::kAllocFailed);
  EXPECT_EQ(seen.events[0].block.size, 1U << 30);
  EXPECT_TRUE(seen.live.empty());
}

}  // namespace
}  // namespace plumbline::checks
