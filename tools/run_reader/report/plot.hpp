// A plot as SVG: lines over common axes, with marks.
//
//   Plot plot{.title = "Step time", .x_title = "step", .y_text = [](double ns) { return duration_text(ns); }};
//   plot.lines.push_back({"rank 0", points});
//   page += plot_svg(plot);
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace plumbline::tools {

struct PlotPoint {
  double x = 0;
  double y = 0;
};

struct PlotLine {
  std::string name;
  std::vector<PlotPoint> points;
};

struct PlotMark {
  PlotPoint at;
  std::string text;  // shown on hovering
};

struct Plot {
  std::string title;
  std::string x_title;
  std::function<std::string(double)> x_text;  // of a tick; without it: a plain number
  std::function<std::string(double)> y_text;
  std::vector<PlotLine> lines;
  std::vector<PlotMark> marks;
  bool stairs = false;  // a value holds until the next one
  bool bytes = false;   // ticks of the vertical axis are round in KiB, MiB …
};

// Colours that a colour-blind reader tells apart; they come round again after eight.
std::string_view line_colour(std::size_t index);

// At most `most` values 1, 2 or 5 times a power of ten apart, from at least `low` to at most `high`.
std::vector<double> ticks_between(double low, double high, std::size_t most);

// The same for bytes: round in the largest unit (KiB, MiB …) that `high` reaches.
std::vector<double> byte_ticks_between(double low, double high, std::size_t most);

// 1180 units wide. The vertical axis starts at 0. Empty when there is nothing to draw.
std::string plot_svg(const Plot& plot);

}  // namespace plumbline::tools
