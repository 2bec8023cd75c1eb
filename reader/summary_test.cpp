#include "reader/summary.hpp"

#include <gtest/gtest.h>

#include "reader/testing/records.hpp"

namespace plumbline::reader {
namespace {

std::uint64_t count(const TraceSummary& summary, Kind kind) { return summary.events[static_cast<std::size_t>(kind)]; }

TEST(SummaryTest, OfASmallRun) {
  testing::TempDir directory;
  const Trace trace = testing::open_trace(testing::write_small_trace(directory.path()));
  const TraceSummary summary = summarize(trace);
  EXPECT_EQ(count(summary, Kind::kAlloc), 2u);
  EXPECT_EQ(count(summary, Kind::kFree), 2u);
  EXPECT_EQ(count(summary, Kind::kCollective), 2u);
  EXPECT_EQ(count(summary, Kind::kCollectiveEnd), 2u);
  EXPECT_EQ(count(summary, Kind::kSample), 2u);
  EXPECT_EQ(summary.collectives, 2u);
  EXPECT_EQ(summary.ops[static_cast<std::size_t>(Op::kAllReduce)], 2u);
  EXPECT_TRUE(summary.pending.empty());
  EXPECT_EQ(summary.logical_steps, 2);
  EXPECT_EQ(summary.resident_peak_bytes, 1 << 20);
  EXPECT_EQ(summary.first_ns, trace.first_ns());
  EXPECT_EQ(summary.last_ns, trace.last_ns());

  ASSERT_EQ(summary.groups.size(), 1u);
  EXPECT_EQ(summary.groups[0].calls, 2u);
  EXPECT_EQ(summary.groups[0].last_seq, 1u);
  EXPECT_EQ(summary.groups[0].busy_ns, 2u * 80);
  EXPECT_EQ(summary.groups[0].elements_in, 2000u);
  ASSERT_EQ(summary.optimizers.size(), 1u);
  EXPECT_EQ(trace.text(summary.optimizers[0].name), "AdamW");
  EXPECT_EQ(summary.optimizers[0].steps, 2u);
  EXPECT_EQ(summary.optimizers[0].outermost, 2u);
  EXPECT_EQ(summary.optimizers[0].nanoseconds, 200u);
  ASSERT_EQ(summary.ranges.size(), 1u);
  EXPECT_EQ(summary.ranges[0].count, 2u);
  ASSERT_EQ(summary.allocations.size(), 1u);
  EXPECT_EQ(summary.allocations[0].peak_bytes, 512u);
  EXPECT_EQ(trace.steps().count(), 2) << "kept from the same pass";
}

TEST(SummaryTest, PendingCallsAreListedOldestFirst) {
  testing::TempDir directory;
  recorder::TraceBuilder builder(directory.path());
  for (std::uint64_t i = 1; i <= 100; ++i) builder.add(0, testing::collective({.time_ns = i * 10, .id = i, .seq = i}));
  builder.add(0, testing::end_of(5, 50, Outcome::kFailed));
  builder.finish({});
  const TraceSummary summary = summarize(testing::open_trace(builder.path()));
  EXPECT_EQ(summary.groups[0].pending, 99u);
  EXPECT_EQ(summary.groups[0].failed, 1u);
  ASSERT_EQ(summary.pending.size(), TraceSummary::kMaxPending);
  EXPECT_EQ(summary.pending[0].id, 1u);
}

TEST(SummaryTest, InnerCallsAreNotCountedTwice) {
  testing::TempDir directory;
  recorder::TraceBuilder builder(directory.path());
  builder.add(0, testing::collective({.time_ns = 10, .id = 1}));
  recorder::CollectiveRecord inner = testing::collective({.time_ns = 11, .id = 2, .layer = Layer::kNccl});
  inner.parent = 1;
  builder.add(0, inner);
  builder.finish({});
  const TraceSummary summary = summarize(testing::open_trace(builder.path()));
  EXPECT_EQ(summary.collectives, 1u);
  EXPECT_EQ(count(summary, Kind::kCollective), 2u);
}

TEST(SummaryTest, OfAllRanksInTheOrderOfTheTraces) {
  testing::TempDir directory;
  for (int rank = 0; rank < 4; ++rank)
    testing::write_small_trace(directory.path(),
                               {.pid = static_cast<std::uint32_t>(rank + 1), .rank = rank, .world_size = 4});
  const reader::Run run = testing::open_run(directory.path());
  const auto summaries = summarize(run);
  ASSERT_EQ(summaries.size(), 4u);
  for (const TraceSummary& summary : summaries) EXPECT_EQ(summary.collectives, 2u);
}

}  // namespace
}  // namespace plumbline::reader
