#include "reader/clock.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>

#include "reader/testing/records.hpp"

namespace plumbline::reader {
namespace {

// Hosts whose clocks are off by known amounts, with ranks that meet in collectives. True time starts at 10^12 ns.
class ClockTest : public ::testing::Test {
 protected:
  static constexpr std::uint64_t kTrueStart = 1'000'000'000'000;

  // Clock of a host = true time + its skew.
  void add_rank(int rank, const std::string& host, std::int64_t skew, std::int64_t wall_error = 0) {
    skew_[rank] = skew;
    recorder::TraceBuilderOptions options;
    options.host = host;
    options.boot_id = "boot of " + host;
    options.pid = static_cast<std::uint32_t>(100 + rank);
    options.rank = rank;
    options.world_size = 4;
    options.start_monotonic_ns = kTrueStart + static_cast<std::uint64_t>(skew);
    options.start_realtime_ns = kTrueStart + 1'700'000'000'000'000'000 + static_cast<std::uint64_t>(wall_error);
    builders_[rank] = std::make_unique<recorder::TraceBuilder>(directory_.path(), options);
  }

  // `count` collectives of the given ranks: each enters at a time of its own, and all leave shortly after the last one.
  void meet(const std::string& group, const std::vector<int>& ranks, int count, Op op = Op::kAllReduce) {
    std::string list;
    for (const int rank : ranks) list += (list.empty() ? "" : ",") + std::to_string(rank);
    for (int i = 0; i < count; ++i) {
      true_now_ += 1'000'000;
      std::map<int, std::uint64_t> enter;
      std::uint64_t last = 0;
      for (const int rank : ranks) last = std::max(last, enter[rank] = true_now_ + random_() % 400'000);
      for (std::size_t j = 0; j < ranks.size(); ++j) {
        const int rank = ranks[j];
        const std::uint64_t skew = static_cast<std::uint64_t>(skew_[rank]);
        recorder::TraceBuilder& trace = *builders_[rank];
        const std::uint64_t id = ++ids_;
        const std::uint64_t group_id =
            trace.group(group, "", "gloo", list, static_cast<std::int32_t>(j), static_cast<std::int32_t>(ranks.size()));
        trace.add(0, testing::collective(
                         {.time_ns = enter[rank] + skew, .id = id, .group = group_id, .seq = seqs_[group], .op = op}));
        trace.add(0, testing::end_of(last + 1000 + random_() % 20'000 + skew, id));
      }
      ++seqs_[group];
    }
  }

  ClockAlignment estimate() {
    for (auto& [rank, builder] : builders_) builder->finish({});
    run_.emplace(testing::open_run(directory_.path()));
    return ClockAlignment::estimate(*run_);
  }

  // How far a true time is off when it is seen by a rank and aligned, against the first host.
  std::int64_t error_of(const ClockAlignment& alignment, std::size_t trace) {
    const int rank = run_->traces()[trace].rank();
    const auto there = static_cast<std::uint64_t>(static_cast<std::int64_t>(true_now_) + skew_[rank]);
    return alignment.align(trace, there) - (static_cast<std::int64_t>(true_now_) + skew_[run_->traces()[0].rank()]);
  }

  testing::TempDir directory_;
  std::map<int, std::unique_ptr<recorder::TraceBuilder>> builders_;
  std::map<int, std::int64_t> skew_;
  std::map<std::string, std::uint64_t> seqs_;
  std::optional<reader::Run> run_;
  std::mt19937_64 random_{1};
  std::uint64_t true_now_ = kTrueStart;
  std::uint64_t ids_ = 0;
};

TEST_F(ClockTest, OneBootIsOneClock) {
  add_rank(0, "a", 0);
  add_rank(1, "a", 0);
  meet("0", {0, 1}, 10);
  const ClockAlignment alignment = estimate();
  ASSERT_EQ(alignment.hosts().size(), 1u);
  EXPECT_EQ(alignment.clock_of(1).method, ClockMethod::kReference);
  EXPECT_EQ(alignment.align(1, 12345), 12345);
}

TEST_F(ClockTest, SkewedHostsAreAlignedByTheirCollectives) {
  add_rank(0, "a", 0);
  add_rank(1, "b", 3'000'000'000'123, 5'000'000);
  meet("0", {0, 1}, 200);
  const ClockAlignment alignment = estimate();
  ASSERT_EQ(alignment.hosts().size(), 2u);
  EXPECT_EQ(alignment.clock_of(1).method, ClockMethod::kCollectives);
  EXPECT_EQ(alignment.clock_of(1).matched, 200u);
  EXPECT_LE(static_cast<std::uint64_t>(std::abs(error_of(alignment, 1))), alignment.clock_of(1).uncertainty_ns);
  EXPECT_LT(alignment.clock_of(1).uncertainty_ns, 30'000u);
}

TEST_F(ClockTest, HostsWithoutACommonGroupAreReachedThroughOthers) {
  add_rank(0, "a", 0);
  add_rank(1, "b", -700'000'000'000);
  add_rank(2, "c", 5'000'000'000);
  meet("left", {0, 1}, 100);
  meet("right", {1, 2}, 100);
  const ClockAlignment alignment = estimate();
  EXPECT_EQ(alignment.clock_of(2).method, ClockMethod::kCollectives);
  EXPECT_LT(std::abs(error_of(alignment, 2)), 60'000);
}

TEST_F(ClockTest, WithoutCollectivesTheWallClockHasToDo) {
  add_rank(0, "a", 0);
  add_rank(1, "b", 900'000'000'000, 2'000'000);
  const ClockAlignment alignment = estimate();
  EXPECT_EQ(alignment.clock_of(1).method, ClockMethod::kWallClock);
  EXPECT_EQ(error_of(alignment, 1), 2'000'000);
}

TEST_F(ClockTest, ABroadcastSaysNothingAboutClocks) {
  add_rank(0, "a", 0);
  add_rank(1, "b", 900'000'000'000);
  meet("0", {0, 1}, 50, Op::kBroadcast);
  EXPECT_EQ(estimate().clock_of(1).method, ClockMethod::kWallClock);
}

TEST_F(ClockTest, LongRunsAreThinnedOutAlike) {
  add_rank(0, "a", 0);
  add_rank(1, "b", 42'000'000'000);
  meet("0", {0, 1}, 9'000);
  const ClockAlignment alignment = estimate();
  EXPECT_GT(alignment.clock_of(1).matched, 1000u);
  EXPECT_LT(alignment.clock_of(1).matched, 4097u);
  EXPECT_LT(std::abs(error_of(alignment, 1)), 30'000);
}

}  // namespace
}  // namespace plumbline::reader
