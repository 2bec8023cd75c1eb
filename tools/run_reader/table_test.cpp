#include "tools/run_reader/table.hpp"

#include <gtest/gtest.h>

#include <string>

#include "tools/run_reader/text.hpp"

namespace plumbline::tools {
namespace {

TEST(TableTest, ColumnsAreAsWideAsTheirCells) {
  Table table({{"op"}, {"calls", Align::kRight}});
  table.add({"all_reduce", "12"});
  table.add({"send", "3"});
  EXPECT_EQ(table.text(0),
            "op          calls\n"
            "all_reduce     12\n"
            "send            3\n");
}

TEST(TableTest, NoRowsIsNoText) {
  const Table table({{"op"}, {"calls", Align::kRight}});
  EXPECT_TRUE(table.empty());
  EXPECT_EQ(table.text(2), "");
}

TEST(TableTest, IndentAndNoTrailingSpaces) {
  Table table({{"a"}, {"b"}});
  table.add({"long cell", ""});
  EXPECT_EQ(table.text(2), "  a          b\n  long cell\n");
}

TEST(TableTest, AColumnWithNothingToTellIsLeftOut) {
  Table table({{"op"}, {"failed", Align::kRight}, {"calls", Align::kRight}});
  table.add({"send", "-", "3"});
  EXPECT_EQ(table.text(0), "op    calls\nsend      3\n");
  table.add({"recv", "1", "3"});
  EXPECT_EQ(table.text(0),
            "op    failed  calls\n"
            "send       -      3\n"
            "recv       1      3\n");
}

TEST(TableTest, MissingCellsAreEmpty) {
  Table table({{"a"}, {"b"}});
  table.add({"x"});
  EXPECT_EQ(table.text(0), "a  b\nx\n");
}

TEST(TableTest, TooWideATableCutsTextAndNeverNumbers) {
  Table table({{"name"}, {"count", Align::kRight}});
  table.add({std::string(300, 'n'), "1,234,567,890"});
  const std::string out = table.text(2);
  for (std::size_t start = 0; start < out.size();) {
    const std::size_t end = out.find('\n', start);
    EXPECT_LE(end - start, kColumns);
    start = end + 1;
  }
  EXPECT_NE(out.find("1,234,567,890"), std::string::npos);
  EXPECT_NE(out.find("nn..nn"), std::string::npos);
}

TEST(TableTest, EscapeSequencesInCellsAreDisarmed) {
  Table table({{"name"}});
  table.add({"\x1b[2J"});
  EXPECT_EQ(table.text(0), "name\n?[2J\n");
}

}  // namespace
}  // namespace plumbline::tools
