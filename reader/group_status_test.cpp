#include "reader/group_status.hpp"

#include <gtest/gtest.h>

#include "reader/testing/records.hpp"

namespace plumbline::reader {
namespace {

TEST(GroupStatusTest, AFactCarriesAStatusThereAndBack) {
  const auto [key, value] = fact_of({.group = ~std::uint64_t{0}, .enqueued = 44790, .started = -1, .completed = 44787});
  const auto status = group_status_of(key, value);
  ASSERT_TRUE(status.has_value());
  EXPECT_EQ(status->group, ~std::uint64_t{0});
  EXPECT_EQ(status->enqueued, 44790);
  EXPECT_EQ(status->started, -1);
  EXPECT_EQ(status->completed, 44787);
  EXPECT_FALSE(status->counts_point_to_point);
}

TEST(GroupStatusTest, NumbersOfSendsAndReceivesAreMarked) {
  const auto [key, value] =
      fact_of({.group = 7, .enqueued = 3, .started = 2, .completed = 1, .counts_point_to_point = true});
  EXPECT_TRUE(group_status_of(key, value)->counts_point_to_point);
}

TEST(GroupStatusTest, OtherFactsAreNone) {
  EXPECT_FALSE(group_status_of("python", "3.11").has_value());
  EXPECT_FALSE(group_status_of("group_status.", "1 2 3").has_value());
  EXPECT_FALSE(group_status_of("group_status.x", "1 2 3").has_value());
  EXPECT_FALSE(group_status_of("group_status.5", "1 2").has_value());
  EXPECT_FALSE(group_status_of("group_status.5", "").has_value());
  EXPECT_FALSE(group_status_of("group_status.5x", "1 2 3").has_value());
}

TEST(GroupStatusTest, ATraceGivesThemAll) {
  const testing::TempDir directory;
  std::string path;
  {
    testing::TraceBuilder trace(directory.path());
    const std::uint64_t group = trace.group("3", "dp", "nccl", "0,1", 0, 2);
    for (const GroupStatus& status : {GroupStatus{.group = group, .enqueued = 9, .started = 8, .completed = 7},
                                      GroupStatus{.group = 12, .enqueued = 1, .started = -1, .completed = 0}}) {
      const auto [key, value] = fact_of(status);
      trace.fact(key, value);
    }
    trace.fact("python", "3.11");
    path = trace.path();
  }
  const Trace trace = testing::open_trace(path);
  const auto statuses = group_statuses(trace);
  ASSERT_EQ(statuses.size(), 2U);
  EXPECT_EQ(trace.group(statuses[0].group)->description, "dp");
  EXPECT_EQ(statuses[0].completed, 7);
  EXPECT_EQ(statuses[1].group, 12U);
}

}  // namespace
}  // namespace plumbline::reader
