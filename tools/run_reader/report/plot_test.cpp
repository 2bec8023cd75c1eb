#include "tools/run_reader/report/plot.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "tools/run_reader/report/html.hpp"

namespace plumbline::tools {
namespace {

std::size_t count(const std::string& text, std::string_view part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

TEST(Html, WhatATraceSaysCannotBecomeMarkup) {
  EXPECT_EQ(escaped("a<script>\"&'"), "a&lt;script&gt;&quot;&amp;&#39;");
  EXPECT_EQ(escaped("\x01\xff"), "??");
  EXPECT_EQ(element("td", "1 < 2"), "<td>1 &lt; 2</td>");
}

TEST(Plot, TicksAreRoundAndInside) {
  EXPECT_EQ(ticks_between(0, 10, 5), (std::vector<double>{0, 2, 4, 6, 8, 10}));
  EXPECT_EQ(ticks_between(3, 48, 5), (std::vector<double>{10, 20, 30, 40}));
  EXPECT_TRUE(ticks_between(1, 1, 5).empty());
  EXPECT_TRUE(ticks_between(0, std::numeric_limits<double>::infinity(), 5).empty());
}

TEST(Plot, TicksOfBytesAreRoundInTheirUnit) {
  EXPECT_EQ(byte_ticks_between(0, 4 << 20, 4), (std::vector<double>{0, 1 << 20, 2 << 20, 3 << 20, 4 << 20}));
  EXPECT_EQ(byte_ticks_between(0, 1000, 2), (std::vector<double>{0, 500, 1000}));
}

TEST(Plot, NothingToDrawIsNoPlot) {
  EXPECT_EQ(
      plot_svg({.title = "empty", .x_title = {}, .x_text = {}, .y_text = {}, .lines = {{"rank 0", {}}}, .marks = {}}),
      "");
}

TEST(Plot, LinesMarksAndTheirTexts) {
  Plot plot;
  plot.title = "live bytes";
  plot.x_title = "seconds";
  plot.y_text = [](double value) { return std::to_string(static_cast<int>(value)) + " B"; };
  plot.lines = {{"rank 0", {{0, 0}, {5, 100}}}, {"rank <1>", {{0, 50}, {5, 50}}}};
  plot.marks = {{{5, 100}, "48 GiB refused"}};
  const std::string svg = plot_svg(plot);
  EXPECT_EQ(count(svg, "<path"), 2U);
  EXPECT_EQ(count(svg, "<circle"), 1U);
  EXPECT_NE(svg.find("48 GiB refused"), std::string::npos);
  EXPECT_NE(svg.find("100 B"), std::string::npos);
  EXPECT_NE(svg.find("rank &lt;1&gt;"), std::string::npos);
  EXPECT_EQ(svg.find("rank <1>"), std::string::npos);
  EXPECT_EQ(svg.find("nan"), std::string::npos);
}

TEST(Plot, StairsHoldAValueUntilTheNext) {
  Plot plot;
  plot.stairs = true;
  plot.lines = {{"rank 0", {{0, 0}, {1, 10}}}};
  EXPECT_EQ(count(plot_svg(plot), "L"), 2U);
}

TEST(Plot, OnePointIsDrawn) {
  Plot plot;
  plot.lines = {{"rank 0", {{3, 7}}}};
  EXPECT_EQ(plot_svg(plot).find("nan"), std::string::npos);
}

}  // namespace
}  // namespace plumbline::tools
