#include "checks/straggler_gap.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "checks/call_text.hpp"
#include "checks/words.hpp"
#include "reader/ranges.hpp"

namespace plumbline::checks {
namespace {

std::string length_text(std::int64_t nanoseconds) {
  return duration_text(static_cast<std::uint64_t>(std::max<std::int64_t>(nanoseconds, 0)));
}

struct Window {
  std::uint64_t from = 0;
  std::uint64_t to = 0;
  bool contains(std::uint64_t time) const { return time >= from && time <= to; }
};

template <typename Batches>
void add_times(const Batches& batches, const Window& window, std::vector<std::uint64_t>& times) {
  constexpr std::size_t kMost = std::size_t{1} << 20;
  for (const auto& batch : batches) {
    for (const std::uint64_t time : batch.time_ns)
      if (window.contains(time) && times.size() < kMost) times.push_back(time);
  }
}

std::int64_t longest_silence(std::vector<std::uint64_t> times, const Window& window) {
  times.push_back(window.from);
  times.push_back(window.to);
  std::sort(times.begin(), times.end());
  std::uint64_t longest = 0;
  for (std::size_t i = 1; i < times.size(); ++i) longest = std::max(longest, times[i] - times[i - 1]);
  return static_cast<std::int64_t>(longest);
}

// A pause is told at its end.
std::int64_t collecting_in(const reader::SampleBatch& batch, const Window& window) {
  std::int64_t sum = 0;
  for (std::size_t row = 0; row < batch.count; ++row) {
    if (static_cast<recorder::Counter>(batch.counter[row]) != recorder::Counter::kGarbageCollectionNs) continue;
    const std::uint64_t end = batch.time_ns[row];
    const auto pause = static_cast<std::uint64_t>(batch.value[row]);
    const std::uint64_t from = std::max(end > pause ? end - pause : 0, window.from);
    const std::uint64_t to = std::min(end, window.to);
    if (to > from) sum += static_cast<std::int64_t>(to - from);
  }
  return sum;
}

std::string range_filling(const reader::Trace& trace, const Window& window) {
  // A range may have been entered that long before the gap.
  constexpr std::uint64_t kBefore = 10'000'000'000;
  const reader::Query query{.kinds = reader::kRanges,
                            .from_ns = window.from > kBefore ? window.from - kBefore : 0,
                            .to_ns = window.to + kBefore};
  std::uint64_t begin = 0;
  std::uint64_t name = 0;
  reader::read_ranges(trace, query, [&](const reader::Range& range) {
    const std::uint64_t from = std::max(range.begin_ns, window.from);
    const std::uint64_t to = range.end_ns == 0 ? window.to : std::min(range.end_ns, window.to);
    const bool fills = range.begin_ns != 0 && to > from && 2 * (to - from) >= window.to - window.from;
    if (fills && range.begin_ns >= begin && is_phase(trace, range)) {
      begin = range.begin_ns;
      name = range.name;
    }
    return true;
  });
  return begin == 0 ? std::string() : std::string(trace.text(name));
}

}  // namespace

std::string Gap::text() const {
  switch (kind) {
    case GapKind::kUnknown:
      return "it was its first collective: what it did before is not recorded";
    case GapKind::kGarbage:
      return fmt::format("it collected Python's garbage for {} of the {} before the call", length_text(collecting),
                         length_text(length));
    case GapKind::kSilent: {
      std::string text = fmt::format("it did nothing that is hooked for {} of the {} before the call",
                                     length_text(silent), length_text(length));
      if (!range.empty()) text += fmt::format(", within {}", range);
      return text + ": no tensor made or freed, so no training work, but Python code, I/O or sleep";
    }
    case GapKind::kDataLoader:
      return fmt::format("it waited for its data loader for most of the {} before the call ({})", length_text(length),
                         range);
    case GapKind::kRange:
      return fmt::format("it was in {} for most of the {} before the call, with {} allocations", range,
                         length_text(length), allocations);
    case GapKind::kComputing:
      return fmt::format("it computed in the {} before the call: {} allocations, no pause longer than {}",
                         length_text(length), allocations, length_text(silent));
  }
  return {};
}

Gap look_at_gap(const Subject& subject, const LateCall& late) {
  Gap gap;
  if (late.free_since < 0 || late.called <= late.free_since) return gap;
  const reader::Trace& trace = subject.run().traces()[late.trace];
  const auto on_trace = [&](std::int64_t time) {
    return subject.clock().trace_time(late.trace, reader::RunClock::seconds(time));
  };
  const Window window{on_trace(late.free_since), on_trace(late.called)};
  if (window.to <= window.from) return gap;
  gap.length = static_cast<std::int64_t>(window.to - window.from);
  std::vector<std::uint64_t> times;
  const reader::Query query{.kinds = reader::kAllocations | reader::kRanges | reader::kSteps | reader::kSamples,
                            .from_ns = window.from,
                            .to_ns = window.to};
  trace.read(query, [&](const reader::FrameView& frame) {
    const std::size_t before = times.size();
    add_times(frame.allocations, window, times);
    gap.allocations += times.size() - before;
    add_times(frame.ranges, window, times);
    add_times(frame.steps, window, times);
    for (const reader::SampleBatch& batch : frame.samples) gap.collecting += collecting_in(batch, window);
    return true;
  });
  gap.silent = longest_silence(std::move(times), window);
  gap.range = range_filling(trace, window);
  if (2 * gap.collecting >= gap.length) {
    gap.kind = GapKind::kGarbage;
  } else if (gap.range.find("DataLoader") != std::string::npos) {
    gap.kind = GapKind::kDataLoader;
  } else if (2 * gap.silent >= gap.length) {
    gap.kind = GapKind::kSilent;
  } else {
    gap.kind = gap.range.empty() ? GapKind::kComputing : GapKind::kRange;
  }
  return gap;
}

}  // namespace plumbline::checks
