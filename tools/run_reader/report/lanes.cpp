#include "tools/run_reader/report/lanes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "checks/call_text.hpp"
#include "reader/collectives.hpp"
#include "reader/ranges.hpp"
#include "reader/steps.hpp"
#include "tools/run_reader/report/html.hpp"
#include "tools/run_reader/report/plot.hpp"
#include "tools/run_reader/text.hpp"

namespace plumbline::tools {
namespace {

constexpr double kWidth = 1180;
constexpr double kLeft = 90;
constexpr double kLane = 44;
constexpr double kTop = 24;
constexpr std::size_t kMostBoxes = 4000;  // of a lane: what a browser still draws at once

struct Box {
  double from_s = 0;
  double to_s = 0;
  double top = 0;  // within the lane
  double height = 0;
  std::string_view style;
  std::string text;
};

class Lane {
 public:
  Lane(const Incident& incident, double top) : incident_(incident), top_(top) {}

  void add(const Box& box, std::string& svg) {
    const double from = std::max(box.from_s, incident_.from_s);
    const double to = std::min(box.to_s, incident_.to_s);
    if (to < from || box.to_s < incident_.from_s) return;
    if (++boxes_ > kMostBoxes) return;
    const double x = place(from);
    svg += fmt::format(
        "<rect class=\"{}\" x=\"{:.2f}\" y=\"{:.1f}\" width=\"{:.2f}\" height=\"{}\"><title>{}</title></rect>",
        box.style, x, top_ + box.top, std::max(0.6, place(to) - x), box.height, escaped(box.text));
  }
  std::size_t left_out() const { return boxes_ > kMostBoxes ? boxes_ - kMostBoxes : 0; }

 private:
  double place(double seconds) const {
    return kLeft + (seconds - incident_.from_s) / (incident_.to_s - incident_.from_s) * (kWidth - kLeft - 10);
  }

  const Incident& incident_;
  double top_;
  std::size_t boxes_ = 0;
};

std::string span_text(double from, double to) {
  return fmt::format("{} to {} ({})", checks::time_text(from), checks::time_text(to),
                     duration_text(static_cast<std::uint64_t>(std::max(0.0, to - from) * 1e9)));
}

void draw_rank(const Context& context, std::size_t index, const Incident& incident, Lane& lane, std::string& svg) {
  const reader::Trace& trace = context.run.traces()[index];
  const auto seconds = [&](std::uint64_t time_ns) { return context.subject.seconds(index, time_ns); };
  const reader::Query window{reader::kRanges | reader::kSteps | reader::kStepGroups,
                             context.subject.clock().trace_time(index, incident.from_s),
                             context.subject.clock().trace_time(index, incident.to_s)};
  reader::read_ranges(trace, window, [&](const reader::Range& range) {
    const std::string_view name = trace.text(range.name);
    if (range.depth != 0 || range.begin_ns == 0 || !checks::is_phase(trace, range)) return true;
    const double to = range.end_ns != 0 ? seconds(range.end_ns) : incident.to_s;
    lane.add({seconds(range.begin_ns), to, 2, 14, range.end_ns != 0 ? "range" : "range open",
              fmt::format("{}{}, {}", name, range.end_ns != 0 ? "" : " (never left)",
                          span_text(seconds(range.begin_ns), to))},
             svg);
    return true;
  });
  reader::read_optimizer_steps(trace, window, [&](const reader::OptimizerStep& step) {
    if (step.depth != 0 || step.begin_ns == 0) return true;
    const double to = step.end_ns != 0 ? seconds(step.end_ns) : incident.to_s;
    lane.add({seconds(step.begin_ns), to, 2, 14, "step",
              fmt::format("{} (step {}), {}", trace.text(step.name), step.logical_step,
                          span_text(seconds(step.begin_ns), to))},
             svg);
    return true;
  });
  reader::read_collectives(trace, {.steps = false}, [&](const reader::Collective& call) {
    if (call.parent != 0) return true;
    const bool open = !call.settled();
    const double from = seconds(call.enqueue_ns);
    const double to = open ? incident.to_s : seconds(std::max(call.end_ns, call.return_ns));
    const reader::Group* group = trace.group(call.group);
    const std::string_view site = call.site != 0 ? trace.text(call.site) : std::string_view();
    lane.add({from, to, 20, 16, open ? "call open" : "call",
              fmt::format("{}{}{}{}, {}", checks::call_text(call), group ? " of " + checks::group_name(*group) : "",
                          site.empty() ? "" : fmt::format(", called at {}", site), open ? ", never ended" : "",
                          open ? "since " + checks::time_text(from) : span_text(from, to))},
             svg);
    return true;
  });
}

}  // namespace

std::string lanes_svg(const Context& context, const Incident& incident) {
  const double height = kTop + kLane * static_cast<double>(incident.ranks.size()) + 24;
  std::string svg =
      fmt::format("<svg class=\"lanes\" viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"lanes\">", kWidth, height);
  for (const double tick : ticks_between(incident.from_s, incident.to_s, 10)) {
    const double x = kLeft + (tick - incident.from_s) / (incident.to_s - incident.from_s) * (kWidth - kLeft - 10);
    svg += fmt::format(
        "<line class=\"grid\" x1=\"{0:.1f}\" x2=\"{0:.1f}\" y1=\"{1}\" y2=\"{2}\"/><text class=\"tick\" x=\"{0:.1f}\" "
        "y=\"14\" text-anchor=\"middle\">{3:g} s</text>",
        x, kTop - 4, height - 20, tick);
  }
  std::size_t left_out = 0;
  double top = kTop;
  for (const std::int32_t rank : incident.ranks) {
    svg += fmt::format("<text class=\"tick\" x=\"{}\" y=\"{}\" text-anchor=\"end\">rank {}</text>", kLeft - 8, top + 24,
                       rank);
    Lane lane(incident, top);
    for (std::size_t index = 0; index < context.run.traces().size(); ++index) {
      const reader::Trace& trace = context.run.traces()[index];
      const bool current =
          trace.launch() == context.run.launches() - 1 && trace.attempt() == context.run.last_attempt();
      if (trace.rank() == rank && current) draw_rank(context, index, incident, lane, svg);
    }
    left_out += lane.left_out();
    top += kLane;
  }
  std::string below;
  if (left_out > 0) below += fmt::format("{} boxes are not drawn. ", count_text(left_out));
  if (incident.left_out > 0) below += fmt::format("{} not shown.", plural(incident.left_out, "rank is", "ranks are"));
  svg += fmt::format("<text class=\"tick\" x=\"{}\" y=\"{}\">{}</text></svg>\n", kLeft, height - 6, escaped(below));
  return svg;
}

}  // namespace plumbline::tools
