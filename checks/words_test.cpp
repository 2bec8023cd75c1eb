#include "checks/words.hpp"

#include <gtest/gtest.h>

namespace plumbline::checks {
namespace {

TEST(WordsTest, BytesTakeTheUnitThatKeepsThemShort) {
  EXPECT_EQ(bytes_text(0), "0 B");
  EXPECT_EQ(bytes_text(1023), "1023 B");
  EXPECT_EQ(bytes_text(1024), "1.0 KiB");
  EXPECT_EQ(bytes_text(1536), "1.5 KiB");
  EXPECT_EQ(bytes_text(80ull << 30), "80.0 GiB");
  EXPECT_EQ(bytes_text(UINT64_MAX), "16.0 EiB");
}

TEST(WordsTest, BytesNeverShowAThousandAndTwentyFour) {
  EXPECT_EQ(bytes_text((1ull << 20) - 1), "1.0 MiB");
  EXPECT_EQ(bytes_text((1ull << 30) - 1), "1.0 GiB");
}

TEST(WordsTest, DurationsFromNanosecondsToDays) {
  EXPECT_EQ(duration_text(0), "0 ns");
  EXPECT_EQ(duration_text(999), "999 ns");
  EXPECT_EQ(duration_text(83'000), "83.0 us");
  EXPECT_EQ(duration_text(83'000'000), "83.0 ms");
  EXPECT_EQ(duration_text(12'340'000'000), "12.3 s");
  EXPECT_EQ(duration_text(125'000'000'000), "2 min 05 s");
  EXPECT_EQ(duration_text(3'725'000'000'000), "1 h 02 min");
  EXPECT_EQ(duration_text(200'000'000'000'000), "2 d 07 h");
}

TEST(WordsTest, DurationsNeverShowAThousandOfAUnit) {
  EXPECT_EQ(duration_text(999'960), "1.0 ms");
  EXPECT_EQ(duration_text(999'960'000), "1.0 s");
  EXPECT_EQ(duration_text(119'960'000'000), "2 min 00 s");
}

TEST(WordsTest, RanksBecomeIntervals) {
  EXPECT_EQ(ranks_text({}), "");
  EXPECT_EQ(ranks_text({3}), "3");
  EXPECT_EQ(ranks_text({1, 0}), "0,1");
  EXPECT_EQ(ranks_text({7, 2, 1, 0, 7}), "0-2,7");
  EXPECT_EQ(ranks_text({0, 2, 4, 5, 6}), "0,2,4-6");
}

TEST(WordsTest, ManyGapsAreCutToACount) {
  std::vector<std::int32_t> even;
  for (std::int32_t rank = 0; rank < 1000; rank += 2) even.push_back(rank);
  EXPECT_EQ(ranks_text(even, 3), "0,2,4,.. (500 in all)");
}

TEST(WordsTest, OneRankOrSeveral) {
  EXPECT_EQ(ranks_phrase({4}), "rank 4");
  EXPECT_EQ(ranks_phrase({5, 4}), "ranks 4,5");
  EXPECT_EQ(ranks_phrase({-1}), "a process without a rank");
  EXPECT_EQ(ranks_phrase({-1, -1}), "2 processes without a rank");
  EXPECT_EQ(ranks_phrase({-1, 3, 2}), "ranks 2,3 and a process without a rank");
  EXPECT_EQ(ranks_text({-1, 0, 1}), "?,0,1");
}

}  // namespace
}  // namespace plumbline::checks
