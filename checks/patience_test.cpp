#include "checks/patience.hpp"

#include <gtest/gtest.h>

#include "checks/testing/fake_rank.hpp"

namespace plumbline::checks {
namespace {

using reader::testing::open_run;
using reader::testing::TempDir;
using testing::FakeRank;
using testing::Op;

constexpr std::uint64_t kSecond = 1'000'000'000;

// A rank whose longest collective took so long, seen last at `last_ms`.
Patience patience_after(double longest_ms, double last_ms) {
  const TempDir directory;
  FakeRank rank(directory.path(), 0, 1);
  rank.whole_call(10, 10 + longest_ms, rank.group("0", "default_pg", "0"), Op::kAllReduce);
  rank.resident(last_ms, 1);
  rank.exit(0);
  const reader::Run run = open_run(directory.path());
  return patience_of(Subject(run), {0, 0});
}

TEST(PatienceTest, AShortPauseIsNeverAHang) {
  const Patience patience = patience_after(5, 8'000);
  EXPECT_EQ(patience.limit_ns, 10 * kSecond);
  EXPECT_FALSE(patience.is_over(0));
  EXPECT_TRUE(patience_after(5, 12'000).is_over(0));
}

TEST(PatienceTest, TheRunsOwnCollectivesSetTheMeasure) {
  const Patience patience = patience_after(20'000, 50'000);
  EXPECT_EQ(patience.longest_ns, 20 * kSecond);
  EXPECT_EQ(patience.limit_ns, 60 * kSecond);
  EXPECT_FALSE(patience.is_over(0));
}

TEST(PatienceTest, AgesAreNeverNegative) {
  const Patience patience = patience_after(5, 8'000);
  EXPECT_EQ(patience.observed_ns, 8'000'000'000);
  EXPECT_EQ(patience.age(3'000'000'000), 5 * kSecond);
  EXPECT_EQ(patience.age(9'000'000'000), 0U);
}

}  // namespace
}  // namespace plumbline::checks
