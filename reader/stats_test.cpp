#include "reader/stats.hpp"

#include <gtest/gtest.h>

namespace plumbline::reader {
namespace {

TEST(StatsTest, RowsOfOneNameAddUp) {
  Stats stats;
  stats.add("frames", Severity::kInfo, 3);
  stats.add("frames", Severity::kInfo, 4);
  EXPECT_EQ(stats.value("frames"), 7u);
  EXPECT_EQ(stats.value("other"), 0u);
  EXPECT_EQ(stats.rows().size(), 1u);
}

TEST(StatsTest, OnlyLossIsLoss) {
  Stats stats;
  stats.add("frames", Severity::kInfo, 3);
  stats.add("odd", Severity::kNotice, 1);
  stats.add("damaged", Severity::kDataLoss, 0);
  EXPECT_FALSE(stats.data_lost());
  stats.add("damaged", Severity::kDataLoss, 1);
  EXPECT_TRUE(stats.data_lost());
}

TEST(StatsTest, MergingKeepsTheFirstSentenceAndTheGravestSeverity) {
  Stats a;
  a.add("tail", Severity::kNotice, 1, "first");
  Stats b;
  b.add("tail", Severity::kDataLoss, 2, "second");
  b.add("more", Severity::kInfo, 5);
  a.merge(b);
  EXPECT_EQ(a.value("tail"), 3u);
  EXPECT_EQ(a.rows()[0].severity, Severity::kDataLoss);
  EXPECT_EQ(a.rows()[0].detail, "first");
  EXPECT_EQ(a.value("more"), 5u);
}

}  // namespace
}  // namespace plumbline::reader
