#include "checks/memory_kills.hpp"

namespace plumbline::checks {
namespace {

std::optional<MemoryKills> seen_by(const Subject& subject, std::size_t index) {
  const reader::Trace& trace = subject.run().traces()[index];
  std::optional<std::int64_t> first;
  MemoryKills kills;
  trace.read({.kinds = reader::kSamples}, [&](const reader::FrameView& frame) {
    for (const reader::SampleBatch& batch : frame.samples) {
      for (std::size_t row = 0; row < batch.count; ++row) {
        if (static_cast<recorder::Counter>(batch.counter[row]) != recorder::Counter::kCgroupOomKills) continue;
        const auto count = static_cast<std::int64_t>(batch.value[row]);
        if (!first) first = count;
        if (count <= *first) continue;
        if (kills.count == 0) kills.seen_ns = subject.clock().since_start(index, batch.time_ns[row]);
        kills.count = count - *first;
      }
    }
    return true;
  });
  if (kills.count == 0) return std::nullopt;
  kills.seen_by = trace.rank();
  return kills;
}

}  // namespace

std::optional<MemoryKills> memory_kills(const Subject& subject, std::size_t trace) {
  const auto& traces = subject.run().traces();
  std::optional<MemoryKills> first;
  for (std::size_t index = 0; index < traces.size(); ++index) {
    if (traces[index].host() != traces[trace].host() || traces[index].launch() != traces[trace].launch()) continue;
    const auto seen = seen_by(subject, index);
    if (seen && (!first || seen->seen_ns < first->seen_ns)) first = seen;
  }
  return first;
}

}  // namespace plumbline::checks
