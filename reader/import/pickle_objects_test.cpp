#include "reader/import/pickle_objects.hpp"

#include <gtest/gtest.h>

#include "reader/import/pickle.hpp"

namespace plumbline::reader::imports {
namespace {

using namespace std::string_literals;

PlainData read(const std::string& body) {
  const std::string bytes = "\x80\x02"s + body + ".";
  Result<PlainData> data = read_pickle("state", {bytes.begin(), bytes.end()}, Objects::kAsData);
  EXPECT_TRUE(data.ok()) << data.status().message();
  return data.ok() ? std::move(*data) : PlainData{};
}

TEST(PickleObjectsTest, ACallIsItsNameAndArguments) {
  const PlainData data = read("cos\nsystem\nX\x02\0\0\0id\x85R"s);
  ASSERT_TRUE(data.root().is_object());
  EXPECT_EQ(data.class_name(data.root()), "os.system");
  ASSERT_EQ(data.arguments(data.root()).size(), 1U);
  EXPECT_EQ(data.text(data.arguments(data.root())[0]), "id");
  EXPECT_TRUE(data.state(data.root()).is_none());
  EXPECT_NE(data.identity(data.root()), 0U);
}

TEST(PickleObjectsTest, NamesOfProtocolFour) {
  const PlainData data = read("\x8c\x05torch\x8c\x07"s + "float32\x93");
  EXPECT_EQ(data.name(data.root()), "torch.float32");
}

TEST(PickleObjectsTest, TheStateOfAnObjectAndItsItems) {
  const PlainData data = read("ca\nB\n)\x81}X\x01\0\0\0xK\x07sb"s);
  EXPECT_EQ(data.integer_or(data.member(data.state(data.root()), "x"), 0), 7);
  const PlainData items = read("ca\nB\n)\x81X\x01\0\0\0xK\x07sK\x08"s + "a");
  EXPECT_EQ(items.integer_or(items.member(items.entries(items.root()), "x"), 0), 7);
}

TEST(PickleObjectsTest, DictionariesByAnotherName) {
  const PlainData data = read("ccollections\nOrderedDict\n)RX\x01\0\0\0xK\x07s}X\x09\0\0\0_metadataNsb"s);
  EXPECT_EQ(data.integer_or(data.member(data.root(), "x"), 0), 7);
  const PlainData given = read("ccollections\nOrderedDict\n]]X\x01\0\0\0xaK\x07"s + "aa\x85R");
  EXPECT_EQ(given.integer_or(given.member(given.root(), "x"), 0), 7);
}

TEST(PickleObjectsTest, SizesSetsAndParametersAreTheirContents) {
  const PlainData size = read("ctorch\nSize\nK\x02K\x03\x86\x85R"s);
  EXPECT_EQ(size.items(size.root()).size(), 2U);
  const PlainData set = read("\x8f(K\x01K\x02\x90"s);
  EXPECT_EQ(set.items(set.root()).size(), 2U);
  const PlainData frozen = read("(K\x01K\x02\x91"s);
  EXPECT_EQ(frozen.items(frozen.root()).size(), 2U);
  const PlainData parameter = read("ctorch._utils\n_rebuild_parameter\nK\x05\x88}\x87R"s);
  EXPECT_EQ(parameter.integer_or(parameter.root(), 0), 5);
}

TEST(PickleObjectsTest, StoragesAreKnownById) {
  const PlainData data = read("X\x07\0\0\0storageK\x00\x86Q"s);
  EXPECT_EQ(data.class_name(data.root()), kPersistent);
  EXPECT_EQ(data.text(data.arguments(data.root())[0]), "storage");
}

TEST(PickleObjectsTest, NumbersOf128BitsAreKeptAsTheirBytes) {
  const PlainData data = read("\x8a\x0b"s + "12345678901");
  EXPECT_EQ(data.text(data.root()), "12345678901");
}

TEST(PickleObjectsTest, WhatNoCheckpointHasIsRefusedStill) {
  for (const std::string& body : {"(cos\nsystem\no."s, "(ios\nsystem\n."s, "\x82\x01."s, "P1\n."s, "\x97."s}) {
    const std::string bytes = "\x80\x02"s + body;
    EXPECT_FALSE(read_pickle("state", {bytes.begin(), bytes.end()}, Objects::kAsData).ok());
  }
}

TEST(PickleObjectsTest, DamageIsNamed) {
  for (const std::string& body : {"cos"s, "cos\nsys"s, "K\x01K\x02\x93."s, "R."s, "b."s, "ca\nB\n)\x81K\x01s."s}) {
    const std::string bytes = "\x80\x02"s + body;
    EXPECT_FALSE(read_pickle("state", {bytes.begin(), bytes.end()}, Objects::kAsData).ok()) << body;
  }
}

}  // namespace
}  // namespace plumbline::reader::imports
