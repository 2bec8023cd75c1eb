#include "tools/run_reader/text.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <ctime>

namespace plumbline::tools {
namespace {

TEST(TextTest, CountsAreGrouped) {
  EXPECT_EQ(count_text(7), "7");
  EXPECT_EQ(count_text(999), "999");
  EXPECT_EQ(count_text(1000), "1,000");
  EXPECT_EQ(count_text(1234567), "1,234,567");
}

TEST(TextTest, Plurals) {
  EXPECT_EQ(plural(1, "rank"), "1 rank");
  EXPECT_EQ(plural(0, "rank"), "0 ranks");
  EXPECT_EQ(plural(2048, "process", "processes"), "2,048 processes");
}

TEST(TextTest, DatesAreLocal) {
  setenv("TZ", "UTC", 1);
  tzset();
  EXPECT_EQ(date_text(1'700'000'000'000'000'000), "2023-11-14 22:13:20");
}

TEST(TextTest, ShorteningKeepsBothEnds) {
  EXPECT_EQ(shortened("short", 10), "short");
  EXPECT_EQ(shortened("Optimizer.step#AdamW.step", 14), "Optimize..step");
  EXPECT_EQ(shortened("abc", 1), ".");
  EXPECT_EQ(shortened("abc", 0), "");
}

TEST(TextTest, TruncatingKeepsTheBeginning) {
  EXPECT_EQ(truncated("short", 5), "short");
  EXPECT_EQ(truncated("all_reduce #37", 8), "all_re..");
  EXPECT_EQ(truncated("abc", 1), ".");
}

TEST(TextTest, ShorteningNeverCutsACodePoint) {
  const std::string text = "ääääääääää";
  const std::string cut = shortened(text, 8);
  EXPECT_EQ(width_of(cut), 8U);
  EXPECT_EQ(printable(cut), cut);
}

TEST(TextTest, WrappingKeepsLinesWithinTheColumns) {
  std::string text;
  for (int word = 0; word < 60; ++word) text += "seven77 ";
  const std::string out = wrapped(text, 4);
  std::size_t start = 0;
  int lines = 0;
  while (start < out.size()) {
    const std::size_t end = std::min(out.find('\n', start), out.size());
    EXPECT_LE(end - start, kColumns);
    if (lines++ > 0) {
      EXPECT_EQ(out.substr(start, 4), "    ");
    }
    start = end + 1;
  }
  EXPECT_EQ(lines, 5);
}

TEST(TextTest, WrappingLeavesAWordThatIsTooLongWhole) {
  const std::string word(kColumns + 20, 'x');
  EXPECT_EQ(wrapped("a " + word + " b", 2), "a\n  " + word + "\n  b");
}

TEST(TextTest, WrappingKeepsNumbersWithTheirUnits) {
  const std::string filler(kColumns - 5, 'x');
  EXPECT_EQ(wrapped(filler + " 1.160 s, then", 2), filler + "\n  1.160 s, then");
  EXPECT_EQ(wrapped(filler + " 20.0 GiB", 2), filler + "\n  20.0 GiB");
  EXPECT_EQ(wrapped(filler + " 11 ranks", 2), filler + " 11\n  ranks");
}

TEST(TextTest, WrappingKeepsTheLeadingSpaces) { EXPECT_EQ(wrapped("  two  gaps", 4), "  two  gaps"); }

TEST(TextTest, ControlCharactersNeverReachTheTerminal) {
  EXPECT_EQ(printable("plain\ttext\x1b[31m\x7f"), "plain?text?[31m?");
  EXPECT_EQ(printable("\xc2\x9b"), "?") << "a C1 control character starts an escape sequence too";
}

TEST(TextTest, BrokenUtf8BecomesQuestionMarks) {
  EXPECT_EQ(printable("\xff\xfe"), "??");
  EXPECT_EQ(printable("caf\xc3"), "caf?");
  EXPECT_EQ(printable("caf\xc3\xa9"), "caf\xc3\xa9");
  EXPECT_EQ(printable("\xc0\xaf"), "??") << "an overlong slash";
}

}  // namespace
}  // namespace plumbline::tools
