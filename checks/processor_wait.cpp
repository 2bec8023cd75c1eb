#include "checks/processor_wait.hpp"

#include <algorithm>
#include <charconv>
#include <string_view>
#include <vector>

namespace plumbline::checks {
namespace {

struct Reading {
  std::uint64_t time_ns = 0;
  std::int64_t waited_ns = 0;  // so far
};

std::vector<Reading> readings_of(const reader::Trace& trace) {
  std::vector<Reading> readings;
  trace.read({.kinds = reader::kSamples}, [&](const reader::FrameView& frame) {
    for (const reader::SampleBatch& batch : frame.samples) {
      for (std::size_t row = 0; row < batch.count; ++row) {
        if (static_cast<recorder::Counter>(batch.counter[row]) == recorder::Counter::kProcessorWaitNs)
          readings.push_back({batch.time_ns[row], static_cast<std::int64_t>(batch.value[row])});
      }
    }
    return true;
  });
  const std::string_view text = trace.definitions().fact("processor.wait_ns");
  Reading last{trace.last_ns(), 0};
  if (std::from_chars(text.data(), text.data() + text.size(), last.waited_ns).ec == std::errc{})
    readings.push_back(last);
  return readings;
}

}  // namespace

std::optional<std::int64_t> processor_wait(const reader::Trace& trace, std::uint64_t from_ns, std::uint64_t to_ns) {
  const std::vector<Reading> readings = readings_of(trace);
  if (readings.empty() || to_ns <= from_ns) return std::nullopt;
  // A single reading is of all the time before it.
  if (readings.size() == 1) return readings[0].waited_ns;
  double waited = 0;
  for (std::size_t i = 1; i < readings.size(); ++i) {
    const Reading& before = readings[i - 1];
    const Reading& after = readings[i];
    // It starts again when another thread trains.
    const auto more = static_cast<double>(std::max<std::int64_t>(after.waited_ns - before.waited_ns, 0));
    const std::uint64_t begin = std::max(before.time_ns, from_ns);
    const std::uint64_t end = std::min(after.time_ns, to_ns);
    if (end <= begin || after.time_ns <= before.time_ns) continue;
    waited += more * static_cast<double>(end - begin) / static_cast<double>(after.time_ns - before.time_ns);
  }
  const std::uint64_t seen_from = std::max(readings.front().time_ns, from_ns);
  const std::uint64_t seen_to = std::min(readings.back().time_ns, to_ns);
  // Readings that do not reach over the stretch speak for all of it.
  if (seen_to <= seen_from) return readings.back().waited_ns;
  return static_cast<std::int64_t>(waited * static_cast<double>(to_ns - from_ns) /
                                   static_cast<double>(seen_to - seen_from));
}

}  // namespace plumbline::checks
