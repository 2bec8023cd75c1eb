#include "checks/call_classes.hpp"

#include <gtest/gtest.h>

#include <functional>

#include "checks/testing/fake_world.hpp"

namespace plumbline::checks {
namespace {

using reader::testing::open_run;
using reader::testing::TempDir;
using testing::CallDetails;
using testing::Dtype;
using testing::FakeRank;
using testing::Op;

constexpr std::string_view kTrain = "train.py:10 in main";
constexpr std::string_view kEvaluate = "train.py:90 in evaluate";

// `calls` makes the `number`th call of a rank.
using Calls = std::function<void(FakeRank&, int rank, std::uint64_t group, int number, double at)>;
using Use = std::function<void(const CallComparison&)>;

void compare(int ranks, int numbers, const Calls& calls, const Use& use) {
  const TempDir directory;
  testing::write_ranks(directory.path(), ranks, [&](int number, FakeRank& rank, std::uint64_t world) {
    for (int call = 0; call < numbers; ++call) calls(rank, number, world, call, 10.0 * call);
  });
  const reader::Run run = open_run(directory.path());
  const Subject subject(run);
  const auto fronts = group_fronts(subject, {0, 0});
  ASSERT_EQ(fronts.size(), 1U);
  use(compare_calls(subject, fronts[0]));
}

void all_reduce(FakeRank& rank, std::uint64_t group, double at, CallDetails details = {.site = kTrain}) {
  rank.whole_call(at, at + 1, group, Op::kAllReduce, details);
}

TEST(CallClassesTest, EqualCallsDifferInNothing) {
  compare(
      3, 600, [](FakeRank& rank, int, std::uint64_t group, int, double at) { all_reduce(rank, group, at); },
      [](const CallComparison& comparison) {
        EXPECT_FALSE(comparison.terms);
        EXPECT_FALSE(comparison.lines);
        EXPECT_EQ(comparison.compared, 600U);
      });
}

TEST(CallClassesTest, TheFirstDifferenceIsFoundAndTheMajorityComesFirst) {
  const auto calls = [](FakeRank& rank, int number, std::uint64_t group, int call, double at) {
    const bool other = number == 1 && call >= 300;
    all_reduce(rank, group, at, {.dtype = other ? Dtype::kBfloat16 : Dtype::kFloat32, .site = kTrain});
  };
  compare(3, 600, calls, [](const CallComparison& comparison) {
    ASSERT_TRUE(comparison.terms);
    EXPECT_EQ(comparison.terms->seq, 300U);
    EXPECT_EQ(comparison.terms->difference, Difference::kDtype);
    ASSERT_EQ(comparison.terms->classes.size(), 2U);
    EXPECT_EQ(comparison.terms->classes[0].members.size(), 2U);
    EXPECT_EQ(comparison.terms->classes[1].members.front()->rank, 1);
    EXPECT_GT(comparison.terms->further, 0U);
  });
}

TEST(CallClassesTest, RanksThatAreNotAsFarAreComparedAsFarAsTheyCame) {
  const auto calls = [](FakeRank& rank, int number, std::uint64_t group, int call, double at) {
    if (number == 0 || call < 40) all_reduce(rank, group, at);
  };
  compare(2, 60, calls, [](const CallComparison& comparison) {
    EXPECT_FALSE(comparison.terms);
    EXPECT_EQ(comparison.compared, 40U);
  });
}

TEST(CallClassesTest, OtherLinesAreToldApartFromOtherCalls) {
  // Both ranks come by both lines, in one step at different times.
  const auto calls = [](FakeRank& rank, int number, std::uint64_t group, int call, double at) {
    const bool evaluates = call % 10 == 9 || (number == 1 && call == 25);
    all_reduce(rank, group, at, {.site = evaluates ? kEvaluate : kTrain});
  };
  compare(2, 50, calls, [](const CallComparison& comparison) {
    EXPECT_FALSE(comparison.terms);
    ASSERT_TRUE(comparison.lines);
    EXPECT_EQ(comparison.lines->seq, 25U);
    EXPECT_EQ(comparison.lines->difference, Difference::kLine);
  });
}

}  // namespace
}  // namespace plumbline::checks
