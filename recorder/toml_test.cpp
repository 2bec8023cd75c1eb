#include "recorder/toml.hpp"

#include <gtest/gtest.h>

namespace plumbline::recorder {
namespace {

using Pairs = std::vector<std::pair<std::string, std::string>>;

TEST(Toml, GivesPlainValuesAsText) {
  std::string error;
  const Pairs pairs = parse_toml_pairs("a = \"x\"\nb = 12\nc = true\nd = \"\"\n# e = 1\n", error);
  EXPECT_EQ(pairs, (Pairs{{"a", "x"}, {"b", "12"}, {"c", "true"}, {"d", ""}}));
  EXPECT_TRUE(error.empty());
}

TEST(Toml, TablesAndArraysAreEmptyValues) {
  std::string error;
  EXPECT_EQ(parse_toml_pairs("a = [1, 2]\n[b]\nc = 1\n", error), (Pairs{{"a", ""}, {"b", ""}}));
  EXPECT_TRUE(error.empty());
}

TEST(Toml, SaysWhereATextBreaksOff) {
  std::string error;
  EXPECT_TRUE(parse_toml_pairs("a = 1\n\nb == 2\n", error).empty());
  EXPECT_TRUE(error.starts_with("line 3: ")) << error;
}

TEST(Toml, SurvivesBytesThatAreNoText) {
  std::string error;
  EXPECT_TRUE(parse_toml_pairs(std::string_view("\xff\xfe\0\x01", 4), error).empty());
  EXPECT_FALSE(error.empty());
}

TEST(Toml, LettersOutsideOfStringsAreRefused) {
  std::string error;
  for (const std::string_view text : {"\xc3\xa9 = 1\n", "\xef\xbb\xbfl", "a = 1 \xd0\xb6\n", "a = \xe3\x82\xa2\n"}) {
    EXPECT_TRUE(parse_toml_pairs(text, error).empty()) << text;
    EXPECT_FALSE(error.empty()) << text;
  }
  EXPECT_EQ(parse_toml_pairs("a = \"\xc3\xa9\" # \xd0\xb6\n", error), (Pairs{{"a", "\xc3\xa9"}}));
  EXPECT_TRUE(error.empty()) << error;
}

}  // namespace
}  // namespace plumbline::recorder
