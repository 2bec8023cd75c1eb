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

}  // namespace
}  // namespace plumbline::recorder
