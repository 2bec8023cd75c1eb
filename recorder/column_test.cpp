#include <gtest/gtest.h>

#include <limits>
#include <random>

#include "recorder/column_encoder.hpp"

namespace plumbline::recorder {
namespace {

using Values = std::vector<std::uint64_t>;
using trace::Encoding;

constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();

// Encodes, decodes, compares; the encoding that was chosen.
Encoding round_trip(const Values& values) {
  ColumnEncoder encoder;
  std::vector<std::uint8_t> data;
  const ColumnHeader header = encoder.encode(values, data);
  Values back(values.size(), 0xabad1dea);
  EXPECT_TRUE(decode_column(header, data, back));
  EXPECT_EQ(back, values);
  return header.encoding;
}

TEST(Column, Empty) { EXPECT_EQ(round_trip({}), Encoding::Constant); }

TEST(Column, OneValueOrEqualValuesAreConstant) {
  EXPECT_EQ(round_trip({7}), Encoding::Constant);
  EXPECT_EQ(round_trip({kMost, kMost, kMost}), Encoding::Constant);
  EXPECT_EQ(round_trip(Values(1000)), Encoding::Constant);
}

TEST(Column, SmallNumbersArePlain) { EXPECT_EQ(round_trip({1, 100, 3, 77, 20, 90}), Encoding::Varint); }

TEST(Column, CountersAreDifferences) {
  Values values;
  for (std::uint64_t i = 0; i < 100; ++i) values.push_back(1'000'000 + i);
  EXPECT_EQ(round_trip(values), Encoding::DeltaVarint);
}

TEST(Column, TimesAreSplit) {
  std::mt19937_64 random(1);
  Values values{1'000'000'000'000};
  for (int i = 0; i < 1000; ++i) values.push_back(values.back() + random() % 30'000);
  EXPECT_EQ(round_trip(values), Encoding::DeltaSplit);
}

TEST(Column, RecurringAddressesPointBack) {
  std::mt19937_64 random(1);
  Values values;
  for (int i = 0; i < 1000; ++i) values.push_back(0x7f0000000000 + random() % 40 * 123'456'789);
  EXPECT_EQ(round_trip(values), Encoding::Back);
}

TEST(Column, NoiseIsRaw) {
  std::mt19937_64 random(1);
  Values values;
  for (int i = 0; i < 1000; ++i) values.push_back(random());
  EXPECT_EQ(round_trip(values), Encoding::Raw64);
}

TEST(Column, ExtremesSurvive) {
  round_trip({0, kMost, 0, kMost});
  round_trip({kMost, 0});
  round_trip({1, kMost, kMost - 1, 2, std::uint64_t{1} << 63, (std::uint64_t{1} << 63) - 1});
}

TEST(Column, RandomShapesSurvive) {
  std::mt19937_64 random(2);
  ColumnEncoder encoder;  // one for all: its buffers must not leak from one column into the next
  std::vector<std::uint8_t> data;
  for (int round = 0; round < 2000; ++round) {
    Values values(random() % 50);
    const unsigned shift = random() % 64;
    const std::uint64_t few = random() % 2 == 0 ? kMost : 7;
    std::uint64_t sum = random() >> random() % 64;
    const bool rising = random() % 2 == 0;
    for (std::uint64_t& value : values) {
      const std::uint64_t step = (random() >> shift) % few;
      value = rising ? sum += step : step;
    }
    const ColumnHeader header = encoder.encode(values, data);
    Values back(values.size());
    ASSERT_TRUE(decode_column(header, data, back));
    ASSERT_EQ(back, values);
  }
}

TEST(Column, ZigzagGoesBothWays) {
  for (const std::uint64_t value : {std::uint64_t{0}, std::uint64_t{1}, kMost, std::uint64_t{1} << 63, kMost >> 1}) {
    EXPECT_EQ(unzigzag(zigzag(value)), value);
  }
  EXPECT_EQ(zigzag(kMost), 1u);
}

bool decodes(Encoding encoding, const std::vector<std::uint8_t>& data, std::size_t count) {
  Values out(count);
  return decode_column({encoding, 5}, data, out);
}

TEST(Column, RefusesDataOfTheWrongLength) {
  EXPECT_FALSE(decodes(Encoding::Constant, {0}, 3));
  EXPECT_FALSE(decodes(Encoding::Raw64, std::vector<std::uint8_t>(15), 2));
  for (const Encoding encoding : {Encoding::Varint, Encoding::DeltaVarint}) {
    EXPECT_FALSE(decodes(encoding, {1, 2}, 3));
    EXPECT_FALSE(decodes(encoding, {1, 2, 3, 4}, 3));
    EXPECT_FALSE(decodes(encoding, {1, 2, 0x80}, 3));
    EXPECT_FALSE(decodes(encoding, {}, 1));
  }
  EXPECT_FALSE(decodes(Encoding::DeltaSplit, {1, 2}, 3));
  EXPECT_FALSE(decodes(Encoding::DeltaSplit, {1, 2, 0}, 2));
  EXPECT_FALSE(decodes(Encoding::DeltaSplit, {1, 2, 0, 0, 0}, 2));
}

TEST(Column, RefusesNumbersBeyond64Bits) {
  const std::vector<std::uint8_t> most(9, 0xff);
  auto fits = most;
  fits.push_back(1);
  auto over = most;
  over.push_back(2);
  auto endless = std::vector<std::uint8_t>(20, 0x80);
  EXPECT_TRUE(decodes(Encoding::Varint, fits, 1));
  EXPECT_FALSE(decodes(Encoding::Varint, over, 1));
  EXPECT_FALSE(decodes(Encoding::Varint, endless, 1));
  fits.insert(fits.begin(), 0);  // the low byte of a split difference, whose rest has 56 bits
  EXPECT_FALSE(decodes(Encoding::DeltaSplit, fits, 1));
}

TEST(Column, RefusesToPointBeforeTheBeginning) {
  EXPECT_FALSE(decodes(Encoding::Back, {1}, 1));
  EXPECT_FALSE(decodes(Encoding::Back, {0, 2, 2}, 2));
  EXPECT_TRUE(decodes(Encoding::Back, {0, 2, 1}, 2));
  EXPECT_FALSE(decodes(Encoding::Back, {0}, 1));
}

TEST(Column, RefusesAnUnknownEncoding) { EXPECT_FALSE(decodes(static_cast<Encoding>(200), {1}, 1)); }

TEST(Column, HostileBytesNeverReadOrWriteBeyondTheirEnds) {
  std::mt19937_64 random(3);
  for (int round = 0; round < 20'000; ++round) {
    std::vector<std::uint8_t> data(random() % 30);
    for (std::uint8_t& byte : data) byte = static_cast<std::uint8_t>(random());
    Values out(random() % 20);
    decode_column({static_cast<Encoding>(random() % 7), random()}, data, out);
  }
}

}  // namespace
}  // namespace plumbline::recorder
