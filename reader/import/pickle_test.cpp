#include "reader/import/pickle.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace plumbline::reader::imports {
namespace {

using namespace std::string_literals;

Result<PlainData> read(const std::string& bytes) { return read_pickle("dump", {bytes.begin(), bytes.end()}); }

PlainData value_of(const std::string& body) {
  Result<PlainData> data = read("\x80\x02"s + body + ".");
  EXPECT_TRUE(data.ok()) << data.status().message();
  return data.ok() ? std::move(*data) : PlainData{};
}

std::string refusal_of(const std::string& bytes) {
  const Result<PlainData> data = read(bytes);
  EXPECT_FALSE(data.ok());
  return data.status().message();
}

std::int64_t integer_of(const std::string& body) {
  const PlainData data = value_of(body);
  return data.integer_or(data.root(), -999);
}

TEST(PickleTest, Numbers) {
  EXPECT_EQ(integer_of("K\xff"s), 255);
  EXPECT_EQ(integer_of("M\x01\x02"s), 0x201);
  EXPECT_EQ(integer_of("J\xfe\xff\xff\xff"s), -2);
  EXPECT_EQ(integer_of("\x8a\x01\xff"s), -1);
  EXPECT_EQ(integer_of("\x8a\x00"s), 0);
  EXPECT_EQ(integer_of("\x8a\x08\x00\x00\x00\x00\x00\x00\x00\x80"s), std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(integer_of("\x8a\x09\xff\xff\xff\xff\xff\xff\xff\xff\x00"s), -1)
      << "an unsigned number of 64 bits, as it is";
  EXPECT_EQ(integer_of("\x88"s), 1);
  const PlainData real = value_of("G\x3f\xf8\x00\x00\x00\x00\x00\x00"s);
  EXPECT_EQ(real.number_or(real.root(), 0), 1.5);
}

TEST(PickleTest, TextsOfEveryLength) {
  for (const std::string& body : {"X\x03\x00\x00\x00"s + "abc"s, "\x8c\x03"s + "abc"s, "U\x03"s + "abc"s,
                                  "\x8d\x03\x00\x00\x00\x00\x00\x00\x00"s + "abc"s, "C\x03"s + "abc"s}) {
    const PlainData data = value_of(body);
    EXPECT_EQ(data.text(data.root()), "abc");
  }
}

TEST(PickleTest, ListsTuplesAndDictionaries) {
  const PlainData data = value_of("}(X\x01\x00\x00\x00"s + "a](K\x01K\x02" + "eX\x01\x00\x00\x00"s + "bK\x03N\x86u");
  const auto list = data.items(data.member(data.root(), "a"));
  ASSERT_EQ(list.size(), 2U);
  EXPECT_EQ(data.integer_or(list[1], 0), 2);
  const auto tuple = data.items(data.member(data.root(), "b"));
  ASSERT_EQ(tuple.size(), 2U);
  EXPECT_TRUE(tuple[1].is_none());
  EXPECT_FALSE(data.has(data.root(), "c"));
}

TEST(PickleTest, WhatIsSharedIsNotExpanded) {
  // Thirty lists, each of which holds the one before it twice: expanded it would be 2^30 values.
  std::string body = "]q\x00"s;
  for (char i = 1; i < 30; ++i) body += "](h"s + static_cast<char>(i - 1) + "h" + static_cast<char>(i - 1) + "eq" + i;
  const PlainData data = value_of(body);
  const auto items = data.items(data.root());
  ASSERT_EQ(items.size(), 2U);
  EXPECT_EQ(data.identity(items[0]), data.identity(items[1]));
}

TEST(PickleTest, AListMayContainItself) {
  const PlainData data = value_of("]q\x00h\x00"s + "a");
  const auto items = data.items(data.root());
  ASSERT_EQ(items.size(), 1U);
  EXPECT_EQ(data.identity(items[0]), data.identity(data.root()));
}

TEST(PickleTest, ProtocolFourAsPythonWritesIt) {
  // pickle.dumps({"frames": [("f", 1), ("f", 1)]}, 4) with one tuple shared.
  const std::string bytes = "\x80\x04\x95\x1d\x00\x00\x00\x00\x00\x00\x00}\x94\x8c\x06"s + "frames\x94]\x94(\x8c\x01"s +
                            "f\x94K\x01\x86\x94h\x04"s + "es.";
  const Result<PlainData> data = read(bytes);
  ASSERT_TRUE(data.ok()) << data.status().message();
  const auto frames = data->items(data->member(data->root(), "frames"));
  ASSERT_EQ(frames.size(), 2U);
  EXPECT_EQ(data->identity(frames[0]), data->identity(frames[1]));
}

TEST(PickleTest, ObjectsAreRefusedByNameAndPlace) {
  const std::string sentence = refusal_of("\x80\x02}cos\nsystem\n(X\x02\x00\x00\x00idtR."s);
  EXPECT_NE(sentence.find("dump, byte 3: the pickle would import a Python name (os.system)"), std::string::npos)
      << sentence;
  EXPECT_NE(sentence.find("nothing was carried out"), std::string::npos);
  EXPECT_NE(refusal_of("\x80\x04\x8c\x02os\x8c\x06system\x93."s).find("(os.system)"), std::string::npos);
  EXPECT_NE(refusal_of("\x80\x02]]R."s).find("build a Python object by a call"), std::string::npos);
  EXPECT_NE(refusal_of("\x80\x02]Q."s).find("checkpoint"), std::string::npos);
  EXPECT_NE(refusal_of("\x80\x02I1\n."s).find("text protocols"), std::string::npos);
}

TEST(PickleTest, NamesThatWouldSpoilATerminalAreShownSafely) {
  const std::string sentence = refusal_of("\x80\x02\x63"s + "\x1b[2Jos\nsys\ttem\n.");
  EXPECT_NE(sentence.find("(?[2Jos.sys?tem)"), std::string::npos) << sentence;
}

TEST(PickleTest, EveryCutIsNamed) {
  const std::string whole = "\x80\x04}\x94(\x8c\x01"s + "a]\x94(K\x01J\x01\x02\x03\x04" + "e\x8c\x01"s + "bG12345678u.";
  ASSERT_TRUE(read(whole).ok()) << read(whole).status().message();
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const std::string sentence = refusal_of(whole.substr(0, size));
    EXPECT_NE(sentence.find("cut off"), std::string::npos) << size << ": " << sentence;
  }
}

TEST(PickleTest, NonsenseIsRefused) {
  for (const std::string& bytes :
       {"\x80\x02."s, "\x80\x02u."s, "\x80\x02]u."s, "\x80\x02](K\x01u."s, "\x80\x02}(K\x01u."s, "\x80\x02h\x07."s,
        "\x80\x02\x00."s, "\x80\x09N."s, "\x80\x02(d0a."s}) {
    EXPECT_FALSE(read(bytes).ok());
  }
}

TEST(PickleTest, SizesBeyondTheFileTakeNoMemory) {
  EXPECT_NE(refusal_of("\x80\x02X\xff\xff\xff\xff"s).find("cut off"), std::string::npos);
  EXPECT_NE(refusal_of("\x80\x04\x8d\xff\xff\xff\xff\xff\xff\xff\xff"s).find("cut off"), std::string::npos);
  EXPECT_NE(refusal_of("\x80\x02Nr\xff\xff\xff\xff."s).find("memo"), std::string::npos);
}

TEST(PickleTest, DepthIsBounded) {
  EXPECT_NE(refusal_of("\x80\x02"s + std::string(5000, '(')).find("1000 deep"), std::string::npos);
}

TEST(PickleTest, ItsBeginningIsKnown) {
  const auto starts = [](const std::string& text) {
    return starts_as_pickle({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
  };
  EXPECT_TRUE(starts("\x80\x02}"s));
  EXPECT_TRUE(starts("\x80\x05"s));
  EXPECT_FALSE(starts("\x80"s));
  EXPECT_FALSE(starts("{}"s));
}

}  // namespace
}  // namespace plumbline::reader::imports
