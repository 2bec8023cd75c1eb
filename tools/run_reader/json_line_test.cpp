#include "tools/run_reader/json_line.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

namespace plumbline::tools {
namespace {

TEST(JsonLineTest, FieldsComeInTheOrderGiven) {
  JsonLine line;
  line.text("kind", "alloc").number("size", 512).number("peer", -1).hex("address", 0x7f00).boolean("held", true);
  EXPECT_EQ(line.finish(), "{\"kind\":\"alloc\",\"size\":512,\"peer\":-1,\"address\":\"0x7f00\",\"held\":true}\n");
}

TEST(JsonLineTest, NothingAddedIsAnEmptyObject) {
  JsonLine line;
  EXPECT_EQ(line.finish(), "{}\n");
}

TEST(JsonLineTest, IsReusedAfterFinish) {
  JsonLine line;
  line.number("a", 1);
  EXPECT_EQ(line.finish(), "{\"a\":1}\n");
  line.number("b", 2);
  EXPECT_EQ(line.finish(), "{\"b\":2}\n");
  EXPECT_EQ(line.finish(), "{}\n");
}

TEST(JsonLineTest, EmptyTextsCanBeLeftOut) {
  JsonLine line;
  line.text_if("none", "").text_if("some", "x").text("kept", "");
  EXPECT_EQ(line.finish(), "{\"some\":\"x\",\"kept\":\"\"}\n");
}

TEST(JsonLineTest, NumbersThatJsonHasNotAreNull) {
  JsonLine line;
  line.real("lr", 0.001).real("beta", std::nan("")).real("max", INFINITY).raw("ranks", "[0,1]");
  EXPECT_EQ(line.finish(), "{\"lr\":0.001,\"beta\":null,\"max\":null,\"ranks\":[0,1]}\n");
}

TEST(JsonLineTest, EveryByteStringMakesValidJson) {
  for (int first = 0; first < 256; ++first) {
    for (const std::string tail : {"", "\"", "\x80", "\xbf\xbf"}) {
      const std::string text = static_cast<char>(first) + tail;
      const auto parsed = nlohmann::json::parse(json_string(text), nullptr, false);
      EXPECT_TRUE(parsed.is_string()) << "byte " << first;
    }
  }
}

TEST(JsonLineTest, TextsSurviveTheRoundTrip) {
  const std::string text = "quote \" backslash \\ newline \n umlaut \xc3\xa4 escape \x1b";
  EXPECT_EQ(nlohmann::json::parse(json_string(text)).get<std::string>(), text);
}

}  // namespace
}  // namespace plumbline::tools
