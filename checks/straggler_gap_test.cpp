#include "checks/straggler_gap.hpp"

#include <gtest/gtest.h>

#include <functional>

#include "checks/testing/fake_rank.hpp"

namespace plumbline::checks {
namespace {

using reader::testing::open_run;
using reader::testing::TempDir;
using testing::FakeRank;

constexpr std::int64_t kMs = 1'000'000;

// Between 100 ms, when the rank was through with a collective, and 400 ms, when it called the next one.
Gap gap_with(const std::function<void(FakeRank&)>& during, std::int64_t free_since = 100 * kMs) {
  const TempDir directory;
  FakeRank rank(directory.path(), 0, 1);
  rank.alloc(0, 0x10, 8);
  during(rank);
  rank.alloc(500, 0x20, 8);
  rank.exit(0);
  const reader::Run run = open_run(directory.path());
  const Subject subject(run);
  LateCall late;
  // On the run's clock, which starts with the trace's first record.
  const auto begin = subject.clock().since_start(0, rank.at(0));
  late.called = begin + 400 * kMs;
  late.free_since = free_since < 0 ? -1 : begin + free_since;
  return look_at_gap(subject, late);
}

void work(FakeRank& rank, double from, double to) {
  for (double at = from; at < to; at += 10) rank.alloc(at, 0x1000 + static_cast<std::uint64_t>(at), 64);
}

TEST(StragglerGapTest, NothingRecordedIsSilence) {
  const Gap gap = gap_with([](FakeRank& rank) { work(rank, 110, 140); });
  EXPECT_EQ(gap.kind, GapKind::kSilent);
  EXPECT_EQ(gap.length, 300 * kMs);
  EXPECT_EQ(gap.silent, 270 * kMs);
  EXPECT_EQ(gap.allocations, 3U);
  EXPECT_EQ(gap.text().rfind("it did nothing that is hooked for 270.0 ms of the 300.0 ms before the call", 0), 0U)
      << gap.text();
}

TEST(StragglerGapTest, TensorsMadeAllAlongAreWork) {
  const Gap gap = gap_with([](FakeRank& rank) { work(rank, 100, 400); });
  EXPECT_EQ(gap.kind, GapKind::kComputing);
  EXPECT_NE(gap.text().find("no pause longer than 10.0 ms"), std::string::npos) << gap.text();
}

TEST(StragglerGapTest, TheRangeThatFillsItIsNamed) {
  const Gap gap = gap_with([](FakeRank& rank) {
    rank.range(105, 115, "zero_grad");
    rank.range(120, 390, "evaluate");
    work(rank, 100, 400);
  });
  EXPECT_EQ(gap.kind, GapKind::kRange);
  EXPECT_EQ(gap.range, "evaluate");
}

TEST(StragglerGapTest, ADataLoaderIsToldApart) {
  const Gap gap = gap_with(
      [](FakeRank& rank) { rank.range(120, 390, "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"); });
  EXPECT_EQ(gap.kind, GapKind::kDataLoader);
}

TEST(StragglerGapTest, ACollectionOfGarbageExplainsTheSilence) {
  // A pause is told at its end, and began before the gap.
  const Gap gap = gap_with([](FakeRank& rank) { rank.garbage_collection(300, 250); });
  EXPECT_EQ(gap.kind, GapKind::kGarbage);
  EXPECT_EQ(gap.collecting, 200 * kMs);
  EXPECT_EQ(gap.text(), "it collected Python's garbage for 200.0 ms of the 300.0 ms before the call");
}

TEST(StragglerGapTest, AShortCollectionDoesNot) {
  const Gap gap = gap_with([](FakeRank& rank) {
    rank.garbage_collection(300, 50);
    rank.garbage_collection(480, 40);
  });
  EXPECT_EQ(gap.collecting, 50 * kMs);
  EXPECT_EQ(gap.kind, GapKind::kSilent);
}

TEST(StragglerGapTest, BeforeTheFirstCollectiveNothingIsKnown) {
  const Gap gap = gap_with([](FakeRank& rank) { work(rank, 100, 400); }, -1);
  EXPECT_EQ(gap.kind, GapKind::kUnknown);
  EXPECT_NE(gap.text().find("first collective"), std::string::npos);
}

}  // namespace
}  // namespace plumbline::checks
