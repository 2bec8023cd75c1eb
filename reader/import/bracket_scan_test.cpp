#include "reader/import/bracket_scan.hpp"

#include <gtest/gtest.h>

#include <random>
#include <string>

namespace plumbline::reader::imports {
namespace {

// The same, byte by byte and without any state to carry.
std::size_t simple_end(const std::string& text, std::uint64_t depth) {
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\') ++i;
      if (c == '"') in_string = false;
    } else if (c == '"') {
      in_string = true;
    } else if (c == '{' || c == '[') {
      ++depth;
    } else if ((c == '}' || c == ']') && --depth == 0) {
      return i + 1;
    }
  }
  return std::string::npos;
}

std::size_t scanned_in_pieces(const std::string& text, std::uint64_t depth, std::size_t piece) {
  BracketScan scan(depth);
  for (std::size_t at = 0; at < text.size(); at += piece) {
    const std::size_t end = scan.find_end(std::string_view(text).substr(at, piece));
    if (end != std::string_view::npos) return at + end;
  }
  return std::string::npos;
}

TEST(BracketScanTest, BracketsInTextsDoNotCount) {
  EXPECT_EQ(BracketScan(1).find_end(R"("a}": "b]\"}", "c": {}} rest)"), 23U);
  EXPECT_EQ(BracketScan(1).find_end("]"), 1U);
  EXPECT_EQ(BracketScan(1).find_end("[[]]"), std::string_view::npos);
}

TEST(BracketScanTest, AnyTextInAnyPiecesEndsWhereOneByOneItEnds) {
  std::mt19937 random(7);
  constexpr char kBytes[] = "{}[]\"\\ax,{}[]\"::  ";
  for (int round = 0; round < 3000; ++round) {
    std::string text;
    const std::size_t size = random() % 400;
    for (std::size_t i = 0; i < size; ++i) text.push_back(kBytes[random() % (sizeof(kBytes) - 1)]);
    const std::uint64_t depth = 1 + random() % 5;
    const std::size_t expected = simple_end(text, depth);
    for (const std::size_t piece :
         {std::size_t{1}, std::size_t{17}, std::size_t{64}, std::size_t{200}, std::size_t{1000}})
      ASSERT_EQ(scanned_in_pieces(text, depth, piece), expected) << text << " in pieces of " << piece;
  }
}

TEST(BracketScanTest, ThePlainPrefixEndsAtQuotesAndBackslashes) {
  for (const std::size_t size : {std::size_t{0}, std::size_t{5}, std::size_t{15}, std::size_t{16}, std::size_t{40}}) {
    const std::string plain(size, 'a');
    EXPECT_EQ(plain_prefix(plain), size);
    EXPECT_EQ(plain_prefix(plain + "\"aaaaaaaaaaaaaaaaaaaaaa"), size);
    EXPECT_EQ(plain_prefix(plain + "\\"), size);
  }
}

}  // namespace
}  // namespace plumbline::reader::imports
