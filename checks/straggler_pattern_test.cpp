#include "checks/straggler_pattern.hpp"

#include <gtest/gtest.h>

#include <functional>

namespace plumbline::checks {
namespace {

constexpr std::int64_t kMs = 1'000'000;

struct Lost {
  std::size_t late = 0;
  std::int64_t ms = 0;
  std::vector<std::uint64_t> elements{};  // by rank; empty: the same on all
};

struct Setting {
  std::size_t ranks = 4;
  std::int64_t steps = 40;
  std::vector<std::size_t> hosts{};  // by rank; empty: one
};

// What is found in a job whose steps of 100 ms lose what `lost` says.
std::optional<Straggling> found_in(const Setting& setting, const std::function<Lost(std::int64_t step)>& lost) {
  PatternScale scale;
  scale.step_time = 100 * kMs;
  scale.total = setting.steps * scale.step_time;
  scale.host = setting.hosts.empty() ? std::vector<std::size_t>(setting.ranks) : setting.hosts;
  StepBook book(setting.ranks, 0, setting.steps - 1, least_loss(scale.step_time));
  for (std::int64_t step = 0; step < setting.steps; ++step) {
    const Lost one = lost(step);
    const reader::Collective call;
    std::vector<Arrival> arrivals(setting.ranks);
    for (std::size_t trace = 0; trace < setting.ranks; ++trace) {
      arrivals[trace].trace = trace;
      arrivals[trace].elements = one.elements.empty() ? 8 : one.elements[trace];
    }
    Lateness lateness;
    lateness.step = step;
    lateness.late = one.late;
    lateness.lost = one.ms * kMs;
    lateness.call = &call;
    lateness.arrivals = arrivals;
    book.add(lateness);
  }
  book.finish();
  return find_straggling(book, scale);
}

TEST(StragglerPatternTest, AFewPercentOfAStepDoNotCount) {
  EXPECT_EQ(least_loss(100 * kMs), 5 * kMs);
  EXPECT_EQ(least_loss(10 * kMs), 2 * kMs);
  EXPECT_FALSE(found_in({}, [](std::int64_t) { return Lost{2, 4}; }));
}

TEST(StragglerPatternTest, TheSameRankInMostSteps) {
  const auto found = found_in({}, [](std::int64_t step) { return Lost{step % 5 == 0 ? 1U : 2U, 20}; });
  ASSERT_TRUE(found);
  EXPECT_EQ(found->pattern, Pattern::kFixed);
  EXPECT_EQ(found->traces, std::vector<std::size_t>{2});
  EXPECT_EQ(found->typical, 20 * kMs);
  EXPECT_DOUBLE_EQ(found->share, 0.16);
  EXPECT_EQ(found->steps.size(), 32U);
}

TEST(StragglerPatternTest, ScatterOverAllRanksIsNobodys) {
  EXPECT_FALSE(found_in({}, [](std::int64_t step) { return Lost{static_cast<std::size_t>(step % 4), 20}; }));
}

TEST(StragglerPatternTest, LongWaitsOverAllRanksDeserveAWord) {
  const auto found = found_in({}, [](std::int64_t step) { return Lost{static_cast<std::size_t>(step % 4), 60}; });
  ASSERT_TRUE(found);
  EXPECT_EQ(found->pattern, Pattern::kTurns);
}

TEST(StragglerPatternTest, PausesThatMove) {
  const auto found = found_in({}, [](std::int64_t step) {
    return step % 8 == 3 ? Lost{static_cast<std::size_t>(step / 8 % 2), 300} : Lost{};
  });
  ASSERT_TRUE(found);
  EXPECT_EQ(found->pattern, Pattern::kMoving);
  EXPECT_EQ(found->traces, (std::vector<std::size_t>{0, 1}));
  EXPECT_EQ(found->steps.size(), 5U);
}

TEST(StragglerPatternTest, PausesOfOneRankAreThatRanks) {
  const auto found = found_in({}, [](std::int64_t step) { return step % 8 == 3 ? Lost{3, 300} : Lost{}; });
  ASSERT_TRUE(found);
  EXPECT_EQ(found->pattern, Pattern::kFixed);
  EXPECT_EQ(found->traces, std::vector<std::size_t>{3});
}

TEST(StragglerPatternTest, AFewPausesAreNoPattern) {
  EXPECT_FALSE(found_in({}, [](std::int64_t step) { return step % 15 == 3 ? Lost{3, 300} : Lost{}; }));
}

TEST(StragglerPatternTest, RanksOfOneHost) {
  const auto found = found_in({.hosts = {0, 0, 1, 1}}, [](std::int64_t step) {
    return Lost{static_cast<std::size_t>(2 + step % 2), 30};
  });
  ASSERT_TRUE(found);
  EXPECT_EQ(found->pattern, Pattern::kHost);
  EXPECT_EQ(found->traces.size(), 2U);
}

TEST(StragglerPatternTest, WhoeverHasMostToDo) {
  const auto found = found_in({.ranks = 2}, [](std::int64_t step) {
    const auto busy = static_cast<std::size_t>(step % 2);
    const std::uint64_t more = 10 * static_cast<std::uint64_t>(1 + step * 7 % 9);
    return Lost{busy, static_cast<std::int64_t>(more), {100 + (busy == 0 ? more : 0), 100 + (busy == 1 ? more : 0)}};
  });
  ASSERT_TRUE(found);
  EXPECT_EQ(found->pattern, Pattern::kWork);
  EXPECT_NEAR(found->correlation, 1, 1e-6);
}

TEST(StragglerPatternTest, WorkThatDoesNotCostTimeIsNotTheCause) {
  const auto found = found_in({.ranks = 2}, [](std::int64_t step) {
    const auto busy = static_cast<std::size_t>(step % 2);
    return Lost{1, 20, {100 + (busy == 0 ? 50U : 0U), 100 + (busy == 1 ? 50U : 0U)}};
  });
  ASSERT_TRUE(found);
  EXPECT_EQ(found->pattern, Pattern::kFixed);
}

}  // namespace
}  // namespace plumbline::checks
