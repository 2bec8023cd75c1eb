#include "checks/straggler_growth.hpp"

#include <gtest/gtest.h>

#include "checks/testing/fake_rank.hpp"

namespace plumbline::checks {
namespace {

using reader::testing::open_run;
using reader::testing::TempDir;
using testing::FakeRank;

constexpr int kSteps = 40;
constexpr int kChange = 20;

// Of a rank that asks for so many bytes in its steps before and after the change.
double growth_of(std::uint64_t before, std::uint64_t after) {
  const TempDir directory;
  FakeRank rank(directory.path(), 0, 1);
  for (int step = 0; step < kSteps; ++step) {
    const double at = 10.0 * step;
    const std::uint64_t bytes = step < kChange ? before : after;
    if (bytes > 0) rank.alloc(at + 1, 0x1000, bytes);
    if (bytes > 0) rank.free(at + 2, 0x1000);
    // Saving a checkpoint asks for a lot once: the median does not see it.
    if (step == kChange / 2) rank.alloc(at + 3, 0x2000, 1 << 30);
    rank.step(at + 5, at + 6);
  }
  rank.exit(0);
  const reader::Run run = open_run(directory.path());
  const Subject subject(run);
  const StepClock steps = step_clock(subject, 0);
  const StepBook book(1, steps.first, steps.first + steps.count() - 1, 0);
  const std::vector<WaitGroup> groups;
  const PatternScale scale;
  std::vector<std::int64_t> durations;
  for (std::int64_t index = 0; index < steps.count(); ++index) durations.push_back(steps.duration(index));
  const StragglerScene scene{subject, steps, 0, book, groups, scale, steps.first, durations};
  CadenceChange change;
  change.at = static_cast<std::size_t>(kChange - steps.first);
  return work_growth(scene, change);
}

TEST(StragglerGrowthTest, IsOfTheBytesThatAStepAsksFor) {
  EXPECT_DOUBLE_EQ(growth_of(1000, 1500), 0.5);
  EXPECT_DOUBLE_EQ(growth_of(1000, 1000), 0);
}

TEST(StragglerGrowthTest, LessIsNoGrowth) { EXPECT_DOUBLE_EQ(growth_of(1000, 500), 0); }

TEST(StragglerGrowthTest, WithoutRecordsNothingIsKnown) { EXPECT_DOUBLE_EQ(growth_of(0, 0), 0); }

}  // namespace
}  // namespace plumbline::checks
