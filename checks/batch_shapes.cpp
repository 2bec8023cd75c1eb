#include "checks/batch_shapes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <set>
#include <string_view>
#include <utility>

#include "checks/words.hpp"

namespace plumbline::checks {
namespace {

using recorder::Counter;

// More steps prove a formula no better, and each costs a look at its allocations.
constexpr std::size_t kMostSteps = 32;  // of a rank

void add_fact(const reader::Trace& trace, std::string_view key, const char* name, RunDimensions& dimensions) {
  const std::string_view text = trace.definitions().fact(key);
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || value == 0 || value_of(dimensions.fixed, name)) return;
  dimensions.fixed.push_back({name, value});
}

std::vector<Dimension> values_of(const BatchShape& shape) {
  return {{"batch", shape.rows}, {std::string(kLength), shape.length}};
}

// The last steps that had one shape alone, each shape once: of several, nobody knows which made a request.
void add_steps(const reader::Trace& trace, std::int64_t failed_step, RunDimensions& dimensions) {
  const std::vector<BatchShape> shapes = batch_shapes(trace);
  const reader::StepTimeline& steps = trace.steps();
  std::set<std::pair<std::uint64_t, std::uint64_t>> known;
  for (std::size_t end = shapes.size(); end > 0 && known.size() < kMostSteps;) {
    const std::int64_t step = steps.step_at(shapes[end - 1].time_ns);
    std::size_t begin = end;
    bool alike = true;
    while (begin > 0 && steps.step_at(shapes[begin - 1].time_ns) == step) {
      --begin;
      alike = alike && shapes[begin].rows == shapes[end - 1].rows && shapes[begin].length == shapes[end - 1].length;
    }
    const BatchShape& last = shapes[end - 1];
    if (alike && step >= 0 && step < steps.count() && step != failed_step &&
        known.insert({last.rows, last.length}).second)
      dimensions.shapes.push_back({step, trace.rank(), values_of(last)});
    end = begin;
  }
}

}  // namespace

std::vector<BatchShape> batch_shapes(const reader::Trace& trace) {
  std::vector<BatchShape> shapes;
  BatchShape next;
  trace.read({.kinds = reader::kSamples}, [&](const reader::FrameView& frame) {
    for (const reader::SampleBatch& batch : frame.samples) {
      for (std::size_t row = 0; row < batch.count; ++row) {
        const auto counter = static_cast<Counter>(batch.counter[row]);
        if (counter == Counter::kBatchRows) {
          next = {batch.time_ns[row], batch.value[row], 0};
        } else if (counter == Counter::kBatchLength && next.time_ns == batch.time_ns[row]) {
          next.length = batch.value[row];
          if (next.rows > 0 && next.length > 0) shapes.push_back(next);
        }
      }
    }
    return true;
  });
  std::stable_sort(shapes.begin(), shapes.end(),
                   [](const BatchShape& a, const BatchShape& b) { return a.time_ns < b.time_ns; });
  return shapes;
}

std::optional<BatchShape> batch_at(const std::vector<BatchShape>& shapes, std::uint64_t time_ns) {
  const auto after = std::upper_bound(shapes.begin(), shapes.end(), time_ns,
                                      [](std::uint64_t time, const BatchShape& shape) { return time < shape.time_ns; });
  if (after == shapes.begin()) return std::nullopt;
  return *(after - 1);
}

RunDimensions with_recorded(const Subject& subject, std::size_t index, std::uint64_t time_ns, RunDimensions given) {
  const reader::Trace& trace = subject.run().traces()[index];
  add_fact(trace, "model.vocabulary", "vocabulary", given);
  add_fact(trace, "model.hidden", "hidden", given);
  if (!given.of_batch().empty() || !given.shapes.empty()) return given;
  const std::optional<BatchShape> now = batch_at(batch_shapes(trace), time_ns);
  if (!now) return given;
  const std::int64_t step = trace.steps().step_at(time_ns);
  given.shapes.push_back({step, trace.rank(), values_of(*now)});
  for (const reader::Trace& other : subject.run().traces()) {
    if (other.attempt() == trace.attempt() && other.launch() == trace.launch())
      add_steps(other, other.rank() == trace.rank() ? step : -1, given);
  }
  return given;
}

std::string batch_text(const reader::Trace& trace, std::uint64_t time_ns) {
  const std::vector<BatchShape> shapes = batch_shapes(trace);
  const std::optional<BatchShape> now = batch_at(shapes, time_ns);
  if (!now) return {};
  std::uint64_t before = 0;
  for (const BatchShape& shape : shapes) {
    if (shape.time_ns < now->time_ns) before = std::max(before, shape.length);
  }
  std::string text =
      fmt::format("the batch then: {} row{} of {} tokens", now->rows, now->rows == 1 ? "" : "s", now->length);
  if (before > 0 && now->length > before) text += fmt::format(", the longest so far (before it at most {})", before);
  return text;
}

}  // namespace plumbline::checks
