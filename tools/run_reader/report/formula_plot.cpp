#include "tools/run_reader/report/formula_plot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "checks/batch_shapes.hpp"
#include "checks/memory.hpp"
#include "checks/memory_request.hpp"
#include "tools/run_reader/memory_input.hpp"
#include "tools/run_reader/report/plot.hpp"
#include "tools/run_reader/text.hpp"

namespace plumbline::tools {
namespace {

using checks::Dimension;
using checks::Formula;

constexpr std::size_t kMostPlots = 4;
constexpr std::size_t kPoints = 64;  // of the curve
constexpr double kBeyond = 1.25;     // how far the curve goes on behind the longest row

std::string row_name(const std::vector<Dimension>& values) {
  for (const std::string_view name : {checks::kLength, checks::kTokens, checks::kRows})
    if (checks::value_of(values, name)) return std::string(name);
  return {};
}

std::vector<Dimension> joined(std::vector<Dimension> values, const std::vector<Dimension>& more) {
  values.insert(values.end(), more.begin(), more.end());
  return values;
}

// Of one shape; false where the formula needs more than is known of it.
bool mark(const Formula& formula, const std::vector<Dimension>& values, const std::string& rows, std::string_view whose,
          Plot& plot) {
  const auto length = checks::value_of(values, rows);
  const auto bytes = formula.bytes_at(values);
  if (!length || !bytes) return false;
  plot.marks.push_back({{static_cast<double>(*length), static_cast<double>(*bytes)},
                        fmt::format("{}: {} = {} bytes", whose, formula.text_with(values), count_text(*bytes))});
  return true;
}

PlotLine curve(const Formula& formula, std::vector<Dimension> values, const std::string& rows, double longest) {
  PlotLine line{formula.text(), {}};
  for (std::size_t point = 0; point <= kPoints; ++point) {
    const double at = longest * kBeyond * static_cast<double>(point) / static_cast<double>(kPoints);
    // The last of equal names counts.
    values.push_back({rows, static_cast<std::uint64_t>(at)});
    if (const auto bytes = formula.bytes_at(values))
      line.points.push_back({static_cast<double>(values.back().value), static_cast<double>(*bytes)});
    values.pop_back();
  }
  return line;
}

std::string plot_of(const Context& context, std::size_t index, const checks::MemoryProfile& profile,
                    const checks::RunDimensions& given) {
  const checks::RefusedRequest& refused = profile.refused.front();
  const checks::RunDimensions dimensions =
      checks::with_recorded(context.subject, index, refused.event.block.time_ns, given);
  const checks::MemoryPool& pool = profile.pools[refused.event.block.pool].pool;
  const auto explained = checks::explain_request(context.subject, index, refused, pool, dimensions);
  if (explained.sizes.classes.empty()) return {};
  const Formula& formula = explained.sizes.classes.front().formula;
  std::vector<Dimension> failed = joined(explained.model, explained.shape);
  if (!explained.sizes.rows.empty()) failed.push_back({std::string(checks::kRows), explained.sizes.rows.front()});
  const std::string rows = row_name(failed);
  if (rows.empty() || formula.row_power() == 0) return {};

  const std::int32_t rank = context.run.traces()[index].rank();
  Plot plot;
  plot.title = fmt::format("rank {}: {}, {}", rank, formula.text(), growth_text(formula));
  plot.x_title = rows;
  plot.y_text = [](double bytes) { return bytes_text(static_cast<std::uint64_t>(bytes)); };
  plot.bytes = true;
  if (!mark(formula, failed, rows, "the request that failed", plot)) return {};
  std::set<std::pair<std::int64_t, std::int32_t>> told;
  for (const checks::StepShape& shape : dimensions.shapes) {
    if (shape.step == refused.event.step || !told.insert({shape.step, shape.rank}).second) continue;
    const auto values = joined(explained.model, dimensions.shape_at(shape.step, std::max(shape.rank, 0)));
    mark(formula, values, rows, fmt::format("step {}", shape.step), plot);
  }
  double longest = 0;
  for (const PlotMark& one : plot.marks) longest = std::max(longest, one.at.x);
  plot.lines.push_back(curve(formula, failed, rows, longest));
  return plot_svg(plot);
}

}  // namespace

std::string formula_plots(const Context& context) {
  const auto given = run_dimensions(context.options.config, context.options.dims);
  if (!given.ok()) return {};
  const std::vector<checks::MemoryProfile> profiles = checks::memory_profiles(context.subject, false);
  std::string svg;
  std::set<std::uint64_t> sizes;
  for (std::size_t index = 0; index < profiles.size() && sizes.size() < kMostPlots; ++index) {
    if (profiles[index].refused.empty()) continue;
    if (sizes.insert(profiles[index].refused.front().event.block.size).second)
      svg += plot_of(context, index, profiles[index], *given);
  }
  return svg;
}

}  // namespace plumbline::tools
