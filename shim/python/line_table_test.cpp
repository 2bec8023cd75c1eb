#include "shim/python/line_table.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace plumbline::shim::python {
namespace {

using Table = std::vector<std::uint8_t>;

TEST(LineTable, PairsOfAddressAndLine) {
  const Table table = {0, 1, 8, 1, 6, 0xff};  // line 11 from 0, 12 from 8, 11 from 14
  EXPECT_EQ(line_at(LineFormat::kPairs, table, 10, 0), 11u);
  EXPECT_EQ(line_at(LineFormat::kPairs, table, 10, 7), 11u);
  EXPECT_EQ(line_at(LineFormat::kPairs, table, 10, 8), 12u);
  EXPECT_EQ(line_at(LineFormat::kPairs, table, 10, 500), 11u);
}

TEST(LineTable, RangesMayHaveNoLine) {
  const Table table = {4, 1, 2, 0x80, 6, 3};
  EXPECT_EQ(line_at(LineFormat::kRanges, table, 10, 2), 11u);
  EXPECT_EQ(line_at(LineFormat::kRanges, table, 10, 4), 0u);
  EXPECT_EQ(line_at(LineFormat::kRanges, table, 10, 6), 14u);
  EXPECT_EQ(line_at(LineFormat::kRanges, table, 10, 12), 0u);
}

// As CPython 3.11 compiles it at line 2:
//   def f(x):
//     if x:
//       return 1
//     return 2
TEST(LineTable, LocationsOfARealFunction) {
  const Table table = {128, 0, 216, 5, 6, 240, 0, 1, 3, 13, 216, 11, 12, 136, 49, 216, 9, 10, 136, 17};
  const std::uint32_t expected[] = {2, 3, 3, 4, 4, 5, 5, 0};
  for (std::int64_t unit = 0; unit < 8; ++unit)
    EXPECT_EQ(line_at(LineFormat::kLocations, table, 2, 2 * unit), expected[unit]) << unit;
}

TEST(LineTable, LocationsOfEveryKind) {
  const auto head = [](int code, int units) { return static_cast<std::uint8_t>(0x80 | code << 3 | (units - 1)); };
  const Table table = {head(13, 1), 0x04,                          // two lines on
                       head(14, 8), 0x42, 0x02, 0x00, 0x00, 0x00,  // 65 on: a number of two bytes
                       head(15, 1),                                // none
                       head(13, 1), 0x03,                          // one back
                       head(0, 1),  0x11};
  EXPECT_EQ(line_at(LineFormat::kLocations, table, 100, 0), 102u);
  EXPECT_EQ(line_at(LineFormat::kLocations, table, 100, 2), 167u);
  EXPECT_EQ(line_at(LineFormat::kLocations, table, 100, 17), 167u);
  EXPECT_EQ(line_at(LineFormat::kLocations, table, 100, 18), 0u);
  EXPECT_EQ(line_at(LineFormat::kLocations, table, 100, 20), 166u);
  EXPECT_EQ(line_at(LineFormat::kLocations, table, 100, 22), 166u);
}

TEST(LineTable, AFunctionThatHasNotBegunIsAtItsFirstLine) {
  for (const LineFormat format : {LineFormat::kPairs, LineFormat::kRanges, LineFormat::kLocations})
    EXPECT_EQ(line_at(format, Table{4, 1}, 10, -2), 10u);
}

TEST(LineTable, DamageEndsAtTheEndOfTheTable) {
  const std::uint8_t bytes[] = {0xf0, 0x7f, 0x7f, 0x7f, 0x7f, 0x7f, 0x7f, 0x7f};
  for (std::size_t length = 0; length <= sizeof bytes; ++length)
    for (const LineFormat format : {LineFormat::kPairs, LineFormat::kRanges, LineFormat::kLocations})
      line_at(format, {bytes, length}, 1, 1 << 20);
  EXPECT_EQ(line_at(LineFormat::kLocations, {}, 1, 0), 0u);
  EXPECT_EQ(line_at(LineFormat::kRanges, {}, 1, 0), 0u);
}

}  // namespace
}  // namespace plumbline::shim::python
