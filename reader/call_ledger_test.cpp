#include "reader/call_ledger.hpp"

#include <gtest/gtest.h>

#include "reader/summary.hpp"
#include "reader/testing/records.hpp"

namespace plumbline::reader {
namespace {

using testing::Call;
using testing::TempDir;
using testing::TraceBuilder;

// A trace of the calls that `write` adds; each is finished 10 ns later unless it says otherwise.
template <class Write>
CallLedger ledger_of(const Write& write) {
  const TempDir directory;
  TraceBuilder builder(directory.path());
  write(builder, builder.group("0", "default_pg", "gloo", "0,1", 0, 2));
  builder.finish({});
  return summarize(testing::open_trace(builder.path())).ledger;
}

void add(TraceBuilder& builder, const Call& call, std::uint64_t count = 8) {
  recorder::CollectiveRecord record = testing::collective(call);
  record.count_in = record.count_out = count;
  builder.add(0, record);
  builder.add(0, testing::end_of(call.time_ns + 10, call.id));
}

TEST(CallLedgerTest, TheWavefrontOfAGroup) {
  const CallLedger ledger = ledger_of([](TraceBuilder& builder, std::uint64_t group) {
    add(builder, {.time_ns = 100, .id = 1, .group = group, .seq = 0});
    builder.add(0, testing::collective({.time_ns = 200, .id = 2, .group = group, .seq = 1}));
    builder.add(0, testing::mark(210, Kind::kCollectiveStart, 2));
    builder.add(0, testing::collective({.time_ns = 300, .id = 3, .group = group, .seq = 2}));
  });
  ASSERT_EQ(ledger.groups.size(), 1u);
  const GroupLedger& group = ledger.groups[0];
  EXPECT_EQ(group.collectives.first, 0);
  EXPECT_EQ(group.collectives.last, 2);
  EXPECT_EQ(group.started, 1);
  EXPECT_EQ(group.completed, 0);
  EXPECT_FALSE(group.failed.has_value());
}

TEST(CallLedgerTest, TheFirstErrorIsKept) {
  const CallLedger ledger = ledger_of([](TraceBuilder& builder, std::uint64_t group) {
    for (const std::uint64_t number : {0u, 1u, 2u}) {
      const std::uint64_t time = 100 * (number + 1);
      builder.add(0, testing::collective({.time_ns = time, .id = number + 1, .group = group, .seq = number}));
      builder.add(0, testing::end_of(time + 10, number + 1, number == 0 ? Outcome::kCompleted : Outcome::kFailed));
    }
  });
  ASSERT_TRUE(ledger.groups[0].failed.has_value());
  EXPECT_EQ(ledger.groups[0].failed->seq, 1u);
}

TEST(CallLedgerTest, EqualCallsGiveEqualSums) {
  const auto calls = [](std::uint64_t odd_count) {
    return [odd_count](TraceBuilder& builder, std::uint64_t group) {
      for (std::uint64_t number = 0; number < 600; ++number)
        add(builder, {.time_ns = 100 * (number + 1), .id = number + 1, .group = group, .seq = number},
            number == 300 ? odd_count : 8);
    };
  };
  const CallLedger one = ledger_of(calls(8));
  const CallLedger other = ledger_of(calls(9));
  const std::vector<CallBlock>& a = one.groups[0].collectives.blocks;
  const std::vector<CallBlock>& b = other.groups[0].collectives.blocks;
  ASSERT_EQ(a.size(), 3u);
  EXPECT_EQ(a[0].terms, b[0].terms);
  EXPECT_NE(a[1].terms, b[1].terms);
  EXPECT_EQ(a[2].terms, b[2].terms);
  EXPECT_EQ(a[1].calls, CallSeries::kBlock);
  EXPECT_EQ(a[1].first_ns, 25'700u);
  EXPECT_EQ(a[2].last_ns, 60'000u);
}

TEST(CallLedgerTest, BlocksStartWhereTheNumbersDo) {
  const CallLedger ledger = ledger_of([](TraceBuilder& builder, std::uint64_t group) {
    add(builder, {.time_ns = 100, .id = 1, .group = group, .seq = 44'788});
    add(builder, {.time_ns = 90, .id = 2, .group = group, .seq = 44'000});
  });
  const CallSeries& series = ledger.groups[0].collectives;
  EXPECT_EQ(series.first, 44'000);
  EXPECT_EQ(series.first_block, 44'000 / CallSeries::kBlock);
  ASSERT_NE(series.block(44'788 / CallSeries::kBlock), nullptr);
  EXPECT_EQ(series.block(44'300 / CallSeries::kBlock), nullptr);
  EXPECT_EQ(series.block(0), nullptr);
}

TEST(CallLedgerTest, ImpossibleNumbersCostNoMemory) {
  const CallLedger ledger = ledger_of([](TraceBuilder& builder, std::uint64_t group) {
    add(builder, {.time_ns = 100, .id = 1, .group = group, .seq = 0});
    add(builder, {.time_ns = 200, .id = 2, .group = group, .seq = std::uint64_t{1} << 60});
  });
  EXPECT_EQ(ledger.groups[0].collectives.blocks.size(), 1u);
  EXPECT_EQ(ledger.groups[0].collectives.calls, 2u);
}

TEST(CallLedgerTest, TransfersAreNumberedByPairAndTag) {
  const CallLedger ledger = ledger_of([](TraceBuilder& builder, std::uint64_t group) {
    for (std::uint64_t number = 0; number < 40; ++number)
      add(builder, {.time_ns = 100 * (number + 1),
                    .id = number + 1,
                    .group = group,
                    .seq = number,
                    .op = Op::kSend,
                    .peer = 1,
                    .tensor_tag = static_cast<std::int32_t>(number % 2)});
    add(builder, {.time_ns = 9000, .id = 99, .group = group, .seq = 40, .op = Op::kRecv, .peer = 1});
  });
  EXPECT_EQ(ledger.pairs.size(), 3u);
  const PairLedger* even = ledger.pair(ledger.pairs[0].group, 1, 0, true);
  ASSERT_NE(even, nullptr);
  EXPECT_EQ(even->calls.calls, 20u);
  EXPECT_EQ(even->number_of(39), 19u);
  EXPECT_EQ(even->number_of(37), 18u);
  EXPECT_EQ(even->number_of(40), std::nullopt);
  EXPECT_TRUE(ledger.groups.empty() || ledger.groups[0].collectives.calls == 0);
}

TEST(CallLedgerTest, InnerCallsBelongToTheirOuterOne) {
  const CallLedger ledger = ledger_of([](TraceBuilder& builder, std::uint64_t group) {
    recorder::CollectiveRecord inner = testing::collective({.time_ns = 110, .id = 2, .group = group, .seq = 7});
    inner.parent = 1;
    add(builder, {.time_ns = 100, .id = 1, .group = group, .seq = 0});
    builder.add(0, inner);
  });
  EXPECT_EQ(ledger.groups[0].collectives.last, 0);
}

TEST(CallLedgerTest, LinesOfTheScriptAreCounted) {
  const CallLedger ledger = ledger_of([](TraceBuilder& builder, std::uint64_t group) {
    recorder::CollectiveRecord record = testing::collective({.time_ns = 100, .id = 1, .group = group, .seq = 0});
    record.site = builder.text("train.py:7 in main");
    builder.add(0, record);
  });
  ASSERT_EQ(ledger.sites.size(), 1u);
  EXPECT_EQ(ledger.sites.begin()->second, 1u);
}

}  // namespace
}  // namespace plumbline::reader
