#include "tools/run_reader/report/plot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "tools/run_reader/report/html.hpp"

namespace plumbline::tools {
namespace {

constexpr double kWidth = 1180;
constexpr double kHeight = 250;
constexpr double kLeft = 90;
constexpr double kRight = 20;
constexpr double kTop = 30;
constexpr double kBottom = 46;

struct Extent {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();

  void take(double value) {
    low = std::min(low, value);
    high = std::max(high, value);
  }
  double place(double value, double from, double to) const { return from + (value - low) / (high - low) * (to - from); }
};

std::string number(double value, const std::function<std::string(double)>& text) {
  return text ? text(value) : fmt::format("{:g}", value);
}

void draw_axes(const Plot& plot, const Extent& x, const Extent& y, std::string& svg) {
  const double floor = kHeight - kBottom;
  const auto ticks = plot.bytes ? byte_ticks_between(y.low, y.high, 5) : ticks_between(y.low, y.high, 5);
  for (const double tick : ticks) {
    const double at = y.place(tick, floor, kTop);
    svg += fmt::format(
        "<line class=\"grid\" x1=\"{}\" x2=\"{}\" y1=\"{:.1f}\" y2=\"{:.1f}\"/>"
        "<text class=\"tick\" x=\"{}\" y=\"{:.1f}\" text-anchor=\"end\">{}</text>",
        kLeft, kWidth - kRight, at, at, kLeft - 6, at + 4, escaped(number(tick, plot.y_text)));
  }
  for (const double tick : ticks_between(x.low, x.high, 10)) {
    const double at = x.place(tick, kLeft, kWidth - kRight);
    svg += fmt::format("<text class=\"tick\" x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">{}</text>", at,
                       floor + 16, escaped(number(tick, plot.x_text)));
  }
  svg += fmt::format(
      "<line class=\"axis\" x1=\"{0}\" x2=\"{1}\" y1=\"{2}\" y2=\"{2}\"/>"
      "<text class=\"tick\" x=\"{1}\" y=\"{3}\" text-anchor=\"end\">{4}</text>",
      kLeft, kWidth - kRight, floor, kHeight - 10, escaped(plot.x_title));
}

void draw_names(const Plot& plot, std::string& svg) {
  double at = kLeft;
  for (std::size_t index = 0; index < plot.lines.size() && at < kWidth - 150; ++index) {
    const std::string& name = plot.lines[index].name;
    svg += fmt::format(
        "<rect x=\"{:.0f}\" y=\"{}\" width=\"12\" height=\"4\" fill=\"{}\"/><text class=\"tick\" x=\"{:.0f}\" "
        "y=\"{}\">{}</text>",
        at, kHeight - 16, line_colour(index), at + 16, kHeight - 10, escaped(name));
    at += 34 + 7.0 * static_cast<double>(name.size());
  }
}

std::string path_of(const Plot& plot, const PlotLine& line, const Extent& x, const Extent& y) {
  std::string path;
  double before = 0;
  for (const PlotPoint& point : line.points) {
    const double across = x.place(point.x, kLeft, kWidth - kRight);
    const double up = y.place(point.y, kHeight - kBottom, kTop);
    if (plot.stairs && !path.empty()) path += fmt::format("L{:.1f} {:.1f}", across, before);
    path += fmt::format("{}{:.1f} {:.1f}", path.empty() ? 'M' : 'L', across, up);
    before = up;
  }
  return path;
}

}  // namespace

std::string_view line_colour(std::size_t index) {
  static constexpr std::array<std::string_view, 8> kColours = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                                               "#56b4e9", "#e69f00", "#6a3d9a", "#444444"};
  return kColours[index % kColours.size()];
}

std::vector<double> ticks_between(double low, double high, std::size_t most) {
  std::vector<double> ticks;
  if (!(high > low) || !std::isfinite(high - low) || most == 0) return ticks;
  const double least = (high - low) / static_cast<double>(most);
  const double power = std::pow(10.0, std::floor(std::log10(least)));
  double step = power * 10;
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (power * factor >= least) {
      step = power * factor;
      break;
    }
  }
  for (double tick = std::ceil(low / step) * step; tick <= high && ticks.size() <= most; tick += step) {
    ticks.push_back(std::abs(tick) < step / 2 ? 0 : tick);
  }
  return ticks;
}

std::vector<double> byte_ticks_between(double low, double high, std::size_t most) {
  double unit = 1;
  while (high / unit >= 1024) unit *= 1024;
  std::vector<double> ticks = ticks_between(low / unit, high / unit, most);
  for (double& tick : ticks) tick *= unit;
  return ticks;
}

std::string plot_svg(const Plot& plot) {
  Extent x;
  Extent y;
  y.take(0);
  const auto take = [&](const PlotPoint& point) {
    x.take(point.x);
    y.take(point.y);
  };
  for (const PlotLine& line : plot.lines) std::for_each(line.points.begin(), line.points.end(), take);
  for (const PlotMark& mark : plot.marks) take(mark.at);
  if (!std::isfinite(x.low)) return {};
  if (x.high <= x.low) x.high = x.low + 1;
  y.high = y.high > y.low ? y.high * 1.05 : y.low + 1;

  std::string svg = fmt::format("<svg class=\"plot\" viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"{}\">", kWidth,
                                kHeight, escaped(plot.title));
  svg += fmt::format("<text class=\"title\" x=\"{}\" y=\"16\">{}</text>", kLeft, escaped(plot.title));
  draw_axes(plot, x, y, svg);
  for (std::size_t index = 0; index < plot.lines.size(); ++index) {
    svg += fmt::format("<path class=\"line\" stroke=\"{}\" d=\"{}\"><title>{}</title></path>", line_colour(index),
                       path_of(plot, plot.lines[index], x, y), escaped(plot.lines[index].name));
  }
  for (const PlotMark& mark : plot.marks) {
    svg += fmt::format("<circle class=\"mark\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"5\"><title>{}</title></circle>",
                       x.place(mark.at.x, kLeft, kWidth - kRight), y.place(mark.at.y, kHeight - kBottom, kTop),
                       escaped(mark.text));
  }
  draw_names(plot, svg);
  return svg + "</svg>\n";
}

}  // namespace plumbline::tools
