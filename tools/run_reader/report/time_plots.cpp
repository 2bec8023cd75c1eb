#include "tools/run_reader/report/time_plots.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "reader/allocations.hpp"
#include "reader/export/counter_thinner.hpp"
#include "reader/names.hpp"
#include "reader/steps.hpp"
#include "tools/run_reader/report/plot.hpp"
#include "tools/run_reader/text.hpp"

namespace plumbline::tools {
namespace {

constexpr std::size_t kMostLines = 8;
constexpr std::uint64_t kPoints = 600;  // of a line: more than a screen has columns

using Kind = std::pair<reader::Source, int>;  // source and device

std::string kind_text(const Kind& kind) {
  std::string text(reader::name_of(kind.first));
  std::replace(text.begin(), text.end(), '_', ' ');
  return kind.second >= 0 ? fmt::format("{} of device {}", text, kind.second) : text;
}

// Live bytes of each kind in one trace, thinned out to what can be seen.
class MemoryLines {
 public:
  explicit MemoryLines(std::uint64_t interval_ns) : interval_ns_(interval_ns) {}

  void add(const reader::AllocationStats& stats, std::uint64_t time_ns) {
    const Kind kind{stats.source, stats.device};
    auto it = thinners_.find(kind);
    if (it == thinners_.end()) {
      it = thinners_
               .try_emplace(
                   kind, interval_ns_,
                   [this, kind](std::uint64_t at, std::int64_t value) { points_[kind].emplace_back(at, value); })
               .first;
    }
    it->second.add(time_ns, static_cast<std::int64_t>(stats.live_bytes));
  }
  const std::map<Kind, std::vector<std::pair<std::uint64_t, std::int64_t>>>& finish() {
    for (auto& [kind, thinner] : thinners_) thinner.finish();
    return points_;
  }

 private:
  std::uint64_t interval_ns_;
  std::map<Kind, reader::CounterThinner> thinners_;
  std::map<Kind, std::vector<std::pair<std::uint64_t, std::int64_t>>> points_;
};

void mark_failures(const Context& context, std::size_t index, const reader::FrameView& frame,
                   std::map<Kind, Plot>& plots) {
  const reader::Trace& trace = context.run.traces()[index];
  for (const reader::AllocationBatch& batch : frame.allocations) {
    for (std::size_t row = 0; row < batch.count; ++row) {
      if (static_cast<reader::Kind>(batch.kind[row]) != reader::Kind::kAllocFailed) continue;
      const auto tag = static_cast<std::uint32_t>(batch.tag[row]);
      plots[{recorder::source_of(tag), recorder::device_of(tag)}].marks.push_back(
          {{context.subject.seconds(index, batch.time_ns[row]), static_cast<double>(batch.size[row])},
           fmt::format("rank {}: a request for {} ({} bytes) failed", trace.rank(), bytes_text(batch.size[row]),
                       count_text(batch.size[row]))});
    }
  }
}

double highest(const PlotLine& line) {
  double high = 0;
  for (const PlotPoint& point : line.points) high = std::max(high, point.y);
  return high;
}

// The lines that rise highest, in the order of their ranks.
void keep_highest(std::vector<PlotLine>& lines) {
  if (lines.size() <= kMostLines) return;
  std::vector<double> heights;
  heights.reserve(lines.size());
  for (const PlotLine& line : lines) heights.push_back(highest(line));
  std::nth_element(heights.begin(), heights.begin() + kMostLines - 1, heights.end(), std::greater<>());
  const double least = heights[kMostLines - 1];
  std::erase_if(lines, [&](const PlotLine& line) { return highest(line) < least; });
  if (lines.size() > kMostLines) lines.resize(kMostLines);
}

}  // namespace

std::string memory_plots(const Context& context) {
  std::map<Kind, Plot> plots;
  for (std::size_t index = 0; index < context.run.traces().size(); ++index) {
    const reader::Trace& trace = context.run.traces()[index];
    const std::uint64_t span = trace.last_ns() > trace.first_ns() ? trace.last_ns() - trace.first_ns() : 1;
    MemoryLines lines(std::max<std::uint64_t>(1, span / kPoints));
    reader::AllocationAnalyzer analyzer;
    analyzer.observe([](void* to, const reader::AllocationStats& stats,
                        std::uint64_t time_ns) { static_cast<MemoryLines*>(to)->add(stats, time_ns); },
                     &lines);
    trace.read({.kinds = reader::kAllocations}, [&](const reader::FrameView& frame) {
      analyzer.add(frame);
      mark_failures(context, index, frame, plots);
      return true;
    });
    for (const auto& [kind, points] : lines.finish()) {
      PlotLine line{fmt::format("rank {}", trace.rank()), {}};
      for (const auto& [time_ns, bytes] : points)
        line.points.push_back({context.subject.seconds(index, time_ns), static_cast<double>(bytes)});
      plots[kind].lines.push_back(std::move(line));
    }
  }
  std::string svg;
  for (auto& [kind, plot] : plots) {
    const std::size_t ranks = plot.lines.size();
    keep_highest(plot.lines);
    plot.title = fmt::format("live bytes, {}{}", kind_text(kind),
                             ranks > plot.lines.size() ? " (the ranks that reach highest)" : "");
    plot.x_title = "seconds since the run's start";
    plot.y_text = [](double bytes) { return bytes_text(static_cast<std::uint64_t>(bytes)); };
    plot.stairs = true;
    plot.bytes = true;
    svg += plot_svg(plot);
  }
  return svg;
}

std::string step_plot(const Context& context) {
  Plot plot;
  plot.title = "time of each logical step";
  plot.x_title = "step";
  plot.y_text = [](double ns) { return duration_text(static_cast<std::uint64_t>(ns)); };
  for (const reader::Trace& trace : context.run.traces()) {
    if (trace.launch() != context.run.launches() - 1 || trace.attempt() != context.run.last_attempt()) continue;
    const reader::StepTimeline& steps = trace.steps();
    if (steps.count() < 2) continue;
    PlotLine line{fmt::format("rank {}", trace.rank()), {}};
    // Of many steps the slowest of each stretch is drawn.
    const std::int64_t stretch = std::max<std::int64_t>(1, steps.count() / static_cast<std::int64_t>(kPoints));
    for (std::int64_t first = 1; first < steps.count(); first += stretch) {
      PlotPoint slowest{static_cast<double>(first), -1};
      for (std::int64_t step = first; step < std::min(first + stretch, steps.count()); ++step) {
        const auto window = steps.window(step);
        const auto taken = static_cast<double>(window.to_ns - steps.window(step - 1).to_ns);
        if (taken > slowest.y) slowest = {static_cast<double>(step), taken};
      }
      line.points.push_back(slowest);
    }
    plot.lines.push_back(std::move(line));
  }
  keep_highest(plot.lines);
  return plot_svg(plot);
}

}  // namespace plumbline::tools
