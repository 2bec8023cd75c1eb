#include "reader/import/json_reader.hpp"

#include <gtest/gtest.h>

#include "reader/import/json_document.hpp"
#include "reader/testing/records.hpp"

namespace plumbline::reader::imports {
namespace {

TEST(JsonReaderTest, WalksAnObject) {
  JsonReader json(R"({"a": 12.5e3, "b": "x\"y", "c": [1, {"d": []}, 3], "e": null, "f": true})");
  ASSERT_TRUE(json.enter_object());
  std::string seen;
  for (std::string_view key; json.next_key(key);) {
    seen += key;
    if (seen == "a")
      EXPECT_EQ(json.number(), "12.5e3");
    else if (seen == "ab")
      EXPECT_EQ(json.text(), "x\"y");
    else if (seen == "abc")
      EXPECT_EQ(json.raw(), R"([1, {"d": []}, 3])");
    else
      json.skip();
  }
  EXPECT_EQ(seen, "abcef");
  EXPECT_TRUE(json.ok()) << json.status().message();
}

TEST(JsonReaderTest, Escapes) {
  JsonReader json(R"(["\n\t\\\/\"", "\u00e9\u4e2d", "\ud83d\ude00", "\uZZZZ", "\u12"])");
  ASSERT_TRUE(json.enter_array());
  std::vector<std::string> texts;
  while (json.next_element()) texts.emplace_back(json.text());
  ASSERT_EQ(texts.size(), 5U);
  EXPECT_EQ(texts[0], "\n\t\\/\"");
  EXPECT_EQ(texts[1], "\u00e9\u4e2d");
  EXPECT_EQ(texts[2], "\U0001f600");
  EXPECT_EQ(texts[3], "\ufffd");
}

TEST(JsonReaderTest, LeaveReadsToTheEndOfWhatWasEntered) {
  JsonReader json(R"([{"a": 1, "b": {"c": "}"}}, 7])");
  ASSERT_TRUE(json.enter_array());
  ASSERT_TRUE(json.next_element());
  ASSERT_TRUE(json.enter_object());
  std::string_view key;
  ASSERT_TRUE(json.next_key(key));
  json.skip();
  json.leave();
  ASSERT_TRUE(json.next_element());
  EXPECT_EQ(json.number(), "7");
  EXPECT_FALSE(json.next_element());
}

TEST(JsonReaderTest, WrongTypesAreSkippedAndGiveNothing) {
  JsonReader json(R"([{"a": 1}, "t", 5])");
  ASSERT_TRUE(json.enter_array());
  ASSERT_TRUE(json.next_element());
  EXPECT_EQ(json.text(), "");
  ASSERT_TRUE(json.next_element());
  EXPECT_EQ(json.number(), "");
  ASSERT_TRUE(json.next_element());
  EXPECT_FALSE(json.enter_object());
  EXPECT_EQ(json.number(), "5");
  EXPECT_FALSE(json.next_element());
  EXPECT_TRUE(json.ok());
}

class JsonFileTest : public ::testing::Test {
 protected:
  Result<PlainData> document(std::string_view text) {
    testing::write_file(path_, text);
    Result<ByteSource> source = ByteSource::open(path_);
    return read_json_document(*source);
  }

  testing::TempDir directory_;
  std::string path_ = directory_ / "file.json";
};

TEST_F(JsonFileTest, ADocumentIsPlainData) {
  const auto data = document(R"({"entries": [{"n": -3, "f": 0.5, "t": "42"}], "ok": true, "none": null})");
  ASSERT_TRUE(data.ok()) << data.status().message();
  const auto entries = data->items(data->member(data->root(), "entries"));
  ASSERT_EQ(entries.size(), 1U);
  EXPECT_EQ(data->integer(data->member(entries[0], "n")), -3);
  EXPECT_EQ(data->number_or(data->member(entries[0], "f"), 0), 0.5);
  EXPECT_EQ(data->integer(data->member(entries[0], "t")), 42);
  EXPECT_TRUE(data->truth(data->member(data->root(), "ok")));
  EXPECT_FALSE(data->has(data->root(), "none"));
}

TEST_F(JsonFileTest, EveryCutIsNamedWithFileAndByte) {
  const std::string whole = R"({"a": [1, 2, {"b": "text \" more"}], "c": {"d": null}})";
  ASSERT_TRUE(document(whole).ok());
  for (std::size_t size = 1; size < whole.size(); ++size) {
    const auto data = document(whole.substr(0, size));
    ASSERT_FALSE(data.ok()) << size;
    EXPECT_EQ(data.status().message().find(path_ + ", byte "), 0U) << data.status().message();
  }
}

TEST_F(JsonFileTest, NonsenseIsRefused) {
  for (const char* const text : {"{", "{1: 2}", "{\"a\" 1}", "[1, }", "[}", "{\"a\": ?}"})
    EXPECT_FALSE(document(text).ok()) << text;
}

TEST_F(JsonFileTest, DepthIsBounded) {
  EXPECT_TRUE(document(std::string(50, '[') + std::string(50, ']')).ok());
  const auto deep = document(std::string(100'000, '[') + std::string(100'000, ']'));
  ASSERT_FALSE(deep.ok());
  EXPECT_NE(deep.status().message().find("100 values deep"), std::string::npos);
}

TEST_F(JsonFileTest, ValuesThatLieAcrossTheWindowAreWhole) {
  // Texts and objects of many sizes, so that each kind of token meets a window's end.
  std::string text = "[";
  for (std::size_t i = 0; i < 60'000; ++i)
    text += (i == 0 ? "" : ",") + (R"({"key)" + std::to_string(i) + R"(": ")" + std::string(i % 67, 'v') +
                                   R"(\n", "n": )" + std::to_string(i) + "}");
  text += "]";
  testing::write_file(path_, text);
  Result<ByteSource> source = ByteSource::open(path_);
  JsonReader json(*source);
  ASSERT_TRUE(json.enter_array());
  std::size_t i = 0;
  for (; json.next_element(); ++i) {
    if (i % 3 == 0) {
      json.skip();
      continue;
    }
    ASSERT_TRUE(json.enter_object());
    std::string_view key;
    ASSERT_TRUE(json.next_key(key));
    EXPECT_EQ(key, "key" + std::to_string(i));
    ASSERT_EQ(json.text().size(), i % 67 + 1);
    ASSERT_TRUE(json.next_key(key));
    ASSERT_EQ(json.number(), std::to_string(i));
    ASSERT_FALSE(json.next_key(key));
  }
  EXPECT_TRUE(json.ok()) << json.status().message();
  EXPECT_EQ(i, 60'000U);
}

}  // namespace
}  // namespace plumbline::reader::imports
