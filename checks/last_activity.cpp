#include "checks/last_activity.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "checks/call_text.hpp"

namespace plumbline::checks {
namespace {

constexpr std::uint64_t kSecond = 1'000'000'000;

void take_collective(LastActivity& activity, const reader::Collective& call) {
  if (call.parent != 0) return;
  if (!call.settled()) {
    auto& open = activity.open_collective;
    if (!open || call.enqueue_ns < open->enqueue_ns) open = call;
  } else {
    auto& ended = activity.ended_collective;
    if (!ended || call.last_seen_ns() >= ended->last_seen_ns()) ended = call;
  }
}

void take_range(LastActivity& activity, const reader::Range& range) {
  if (range.end_ns == 0) {
    auto& open = activity.open_range;
    if (!open || range.begin_ns >= open->begin_ns) open = range;
  } else {
    auto& ended = activity.ended_range;
    if (!ended || range.end_ns >= ended->end_ns) ended = range;
  }
}

LastActivity read_since(const reader::Trace& trace, std::uint64_t from_ns) {
  LastActivity activity;
  reader::CollectiveJoin collectives;
  reader::OptimizerStepJoin steps;
  reader::RangeJoin ranges;
  const auto on_collective = [&](const reader::Collective& call) { take_collective(activity, call); };
  const auto on_range = [&](const reader::Range& range) {
    if (is_phase(trace, range)) take_range(activity, range);
  };
  const auto on_step = [&](const reader::OptimizerStep& step) {
    if (!activity.step || step.begin_ns >= activity.step->begin_ns) activity.step = step;
  };
  reader::Query query;
  query.kinds = reader::kCollectives | reader::kMarks | reader::kSteps | reader::kStepGroups | reader::kRanges;
  query.from_ns = from_ns;
  trace.read(query, [&](const reader::FrameView& frame) {
    collectives.add(frame, on_collective);
    steps.add(frame, on_step);
    ranges.add(frame, on_range);
    return true;
  });
  collectives.finish(trace.in_flight(), on_collective);
  steps.finish(on_step);
  ranges.finish(on_range);
  return activity;
}

bool is_empty(const LastActivity& activity) {
  return !activity.ended_collective && !activity.open_collective && !activity.step && !activity.open_range &&
         !activity.ended_range;
}

}  // namespace

LastActivity last_activity(const reader::Trace& trace, std::uint64_t around_ns) {
  const std::uint64_t end = around_ns == 0 ? trace.last_ns() : around_ns;
  for (const std::uint64_t tail : {10 * kSecond, 300 * kSecond}) {
    if (tail >= end) break;
    LastActivity activity = read_since(trace, end - tail);
    if (!is_empty(activity)) return activity;
  }
  return read_since(trace, 0);
}

std::string last_activity_text(const Subject& subject, std::size_t trace_index, const LastActivity& activity) {
  const reader::Trace& trace = subject.run().traces()[trace_index];
  std::vector<std::pair<std::uint64_t, std::string>> parts;
  const auto at = [&](std::uint64_t time_ns) { return time_text(subject.seconds(trace_index, time_ns)); };
  if (const auto& call = activity.ended_collective) {
    const reader::Group* group = trace.group(call->group);
    parts.emplace_back(call->last_seen_ns(),
                       fmt::format("{}{} until {}", call_name(*call), group ? " of " + group_name(*group) : "",
                                   at(call->last_seen_ns())));
  }
  if (const auto& step = activity.step) {
    const std::uint64_t time = step->end_ns == 0 ? step->begin_ns : step->end_ns;
    parts.emplace_back(time, fmt::format("{} (step {}) {} {}", trace.text(step->name), trace.steps().step_at(time),
                                         step->end_ns == 0 ? "since" : "until", at(time)));
  }
  // The range of an optimizer step says nothing that the step has not said.
  const auto is_step = [&](const reader::Range& range) { return trace.text(range.name).starts_with("Optimizer.step"); };
  if (activity.open_range && !is_step(*activity.open_range)) {
    parts.emplace_back(
        activity.open_range->begin_ns,
        fmt::format("inside {} since {}", trace.text(activity.open_range->name), at(activity.open_range->begin_ns)));
  } else if (activity.ended_range && !is_step(*activity.ended_range)) {
    parts.emplace_back(activity.ended_range->end_ns, fmt::format("{} until {}", trace.text(activity.ended_range->name),
                                                                 at(activity.ended_range->end_ns)));
  }
  if (parts.empty()) return "nothing that was recorded";
  std::stable_sort(parts.begin(), parts.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  constexpr std::size_t kShown = 2;
  std::string text;
  for (std::size_t index = parts.size() > kShown ? parts.size() - kShown : 0; index < parts.size(); ++index) {
    text += (text.empty() ? "" : ", ") + parts[index].second;
  }
  return text;
}

}  // namespace plumbline::checks
