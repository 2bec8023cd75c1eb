#include "reader/column_decoder.hpp"

#include <gtest/gtest.h>

#include <random>

#include "recorder/column.hpp"
#include "recorder/messages.hpp"

namespace plumbline::reader {
namespace {

using Values = std::vector<std::uint64_t>;

// A column as the file holds it.
class Stored {
 public:
  Stored(trace::Encoding encoding, std::uint64_t base, const std::vector<std::uint8_t>& data) {
    builder_.Finish(trace::CreateColumnDirect(builder_, base, encoding, &data));
  }
  const trace::Column* get() const { return flatbuffers::GetRoot<trace::Column>(builder_.GetBufferPointer()); }
  bool decodes_to(const Values& expected) const {
    Values values(expected.size(), 0xdead);
    return decode_column(get(), values) && values == expected;
  }
  bool decodes(std::size_t count) const {
    Values values(count);
    return decode_column(get(), values);
  }

 private:
  flatbuffers::FlatBufferBuilder builder_;
};

TEST(ColumnDecoderTest, WhatTheWriterEncodesComesBack) {
  std::mt19937_64 random(3);
  for (int round = 0; round < 300; ++round) {
    Values values(random() % 200);
    std::uint64_t at = random();
    for (std::uint64_t& value : values) value = round % 3 == 0 ? random() >> random() % 64 : at += random() % 100'000;
    recorder::MessageBuilder builder;
    builder.fbb().Finish(builder.column(values));
    Values decoded(values.size());
    ASSERT_TRUE(decode_column(flatbuffers::GetRoot<trace::Column>(builder.fbb().GetBufferPointer()), decoded));
    ASSERT_EQ(decoded, values);
  }
}

TEST(ColumnDecoderTest, AMissingColumnIsZeros) {
  Values values(3, 7);
  EXPECT_TRUE(decode_column(nullptr, values));
  EXPECT_EQ(values, (Values{0, 0, 0}));
}

TEST(ColumnDecoderTest, VarintsOfEveryLength) {
  for (unsigned bits = 0; bits <= 64; ++bits) {
    const std::uint64_t value = bits == 0 ? 0 : ~std::uint64_t{0} >> (64 - bits);
    std::vector<std::uint8_t> data;
    // Twice, and filled up, so that both the fast and the careful path meet it.
    for (std::uint64_t v : {value, value, std::uint64_t{1}, std::uint64_t{1}, std::uint64_t{1}, std::uint64_t{1},
                            std::uint64_t{1}, std::uint64_t{1}, std::uint64_t{1}, std::uint64_t{1}}) {
      for (; v >= 0x80; v >>= 7) data.push_back(static_cast<std::uint8_t>(v | 0x80));
      data.push_back(static_cast<std::uint8_t>(v));
    }
    EXPECT_TRUE(Stored(trace::Encoding::Varint, 0, data).decodes_to({value, value, 1, 1, 1, 1, 1, 1, 1, 1})) << bits;
  }
}

TEST(ColumnDecoderTest, DifferencesAddUpAndWrap) {
  EXPECT_TRUE(Stored(trace::Encoding::DeltaVarint, 10, {2, 2, 1}).decodes_to({11, 12, 11}));
  EXPECT_TRUE(Stored(trace::Encoding::DeltaVarint, 0, {1}).decodes_to({~std::uint64_t{0}}));
}

TEST(ColumnDecoderTest, AConstantHasNoData) {
  EXPECT_TRUE(Stored(trace::Encoding::Constant, 9, {}).decodes_to({9, 9}));
  EXPECT_FALSE(Stored(trace::Encoding::Constant, 9, {1}).decodes(2));
}

TEST(ColumnDecoderTest, TheNumberOfValuesMustFit) {
  EXPECT_FALSE(Stored(trace::Encoding::Varint, 0, {1, 2}).decodes(1)) << "bytes are left over";
  EXPECT_FALSE(Stored(trace::Encoding::Varint, 0, {1, 2}).decodes(3)) << "bytes run out";
  EXPECT_FALSE(Stored(trace::Encoding::Varint, 0, {0x80}).decodes(1)) << "a number without end";
  EXPECT_FALSE(Stored(trace::Encoding::Raw64, 0, {1, 2, 3}).decodes(1));
  EXPECT_TRUE(Stored(trace::Encoding::Varint, 0, {}).decodes(0));
}

TEST(ColumnDecoderTest, ANumberBeyond64BitsIsRefused) {
  EXPECT_FALSE(Stored(trace::Encoding::Varint, 0, std::vector<std::uint8_t>(11, 0xff)).decodes(1));
  std::vector<std::uint8_t> eleven_bits(9, 0xff);
  eleven_bits.push_back(0x02);
  EXPECT_FALSE(Stored(trace::Encoding::Varint, 0, eleven_bits).decodes(1));
}

TEST(ColumnDecoderTest, AnUnknownEncodingIsRefused) {
  EXPECT_FALSE(Stored(static_cast<trace::Encoding>(99), 0, {}).decodes(0));
}

TEST(ColumnArenaTest, IsUsedAgainAfterAReset) {
  ColumnArena arena;
  std::uint64_t* const first = arena.take(10);
  ASSERT_NE(first, nullptr);
  first[9] = 1;
  EXPECT_EQ(arena.take(10), first + 10);
  arena.reset();
  EXPECT_EQ(arena.take(10), first);
}

TEST(ColumnArenaTest, GrowsAndThenHoldsAFrameInOneBlock) {
  ColumnArena arena;
  for (int i = 0; i < 8; ++i) ASSERT_NE(arena.take(50'000), nullptr);
  arena.reset();
  std::uint64_t* const first = arena.take(50'000);
  EXPECT_EQ(arena.take(50'000), first + 50'000);
}

TEST(ColumnArenaTest, HasAnEnd) {
  ColumnArena arena;
  EXPECT_EQ(arena.take(ColumnArena::kMaxValues + 1), nullptr);
  EXPECT_NE(arena.take(16), nullptr);
  EXPECT_EQ(arena.take(ColumnArena::kMaxValues), nullptr) << "together too much";
}

}  // namespace
}  // namespace plumbline::reader
