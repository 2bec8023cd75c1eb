#include "reader/export/proto_writer.hpp"

#include <gtest/gtest.h>

#include <string>

namespace plumbline::reader {
namespace {

using std::string_literals::operator""s;

TEST(ProtoWriterTest, SmallVarintIsKeyAndOneByte) {
  ProtoWriter writer;
  writer.varint(1, 5);
  EXPECT_EQ(writer.bytes(), "\x08\x05"s);
}

// The example of the encoding's own documentation: field 1 with 150 is 08 96 01.
TEST(ProtoWriterTest, VarintSplitsIntoSevenBitGroupsLowestFirst) {
  ProtoWriter writer;
  writer.varint(1, 150);
  EXPECT_EQ(writer.bytes(), "\x08\x96\x01"s);
}

TEST(ProtoWriterTest, NegativeNumbersTakeTenBytes) {
  ProtoWriter writer;
  writer.varint(1, static_cast<std::uint64_t>(-1));
  EXPECT_EQ(writer.bytes(), "\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"s);
}

TEST(ProtoWriterTest, FieldNumbersAboveFifteenTakeTwoKeyBytes) {
  ProtoWriter writer;
  writer.varint(60, 0);
  EXPECT_EQ(writer.bytes(), "\xe0\x03\x00"s);
}

TEST(ProtoWriterTest, TextIsLengthAndBytes) {
  ProtoWriter writer;
  writer.text(2, "testing");
  EXPECT_EQ(writer.bytes(), "\x12\x07testing"s);
}

TEST(ProtoWriterTest, FixedIsLittleEndian) {
  ProtoWriter writer;
  writer.fixed64(47, 0x0102030405060708);
  EXPECT_EQ(writer.bytes(), "\xf9\x02\x08\x07\x06\x05\x04\x03\x02\x01"s);
}

TEST(ProtoWriterTest, DoubleIsItsBits) {
  ProtoWriter writer;
  writer.number(5, 1.0);
  EXPECT_EQ(writer.bytes(), "\x29\x00\x00\x00\x00\x00\x00\xf0\x3f"s);
}

TEST(ProtoWriterTest, NestedMessageIsItsBytesWithLength) {
  ProtoWriter inner;
  inner.varint(1, 150);
  ProtoWriter outer;
  outer.message(3, inner);
  EXPECT_EQ(outer.bytes(), "\x1a\x03\x08\x96\x01"s);
}

TEST(ProtoWriterTest, EmptyMessageStillHasItsKey) {
  ProtoWriter outer;
  outer.message(3, ProtoWriter{});
  EXPECT_EQ(outer.bytes(), "\x1a\x00"s);
}

TEST(ProtoWriterTest, ClearStartsOver) {
  ProtoWriter writer;
  writer.varint(1, 1);
  writer.clear();
  EXPECT_TRUE(writer.empty());
  writer.varint(1, 2);
  EXPECT_EQ(writer.bytes(), "\x08\x02"s);
}

}  // namespace
}  // namespace plumbline::reader
