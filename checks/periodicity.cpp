#include "checks/periodicity.hpp"

#include <algorithm>
#include <map>
#include <tuple>

#include "reader/steps.hpp"

namespace plumbline::checks {
namespace {

// A step of more calls than that is not looked for.
constexpr std::size_t kMaxPeriod = 16'384;
constexpr std::size_t kWindow = 4 * kMaxPeriod;
constexpr std::size_t kMaxCalls = std::size_t{1} << 23;

struct CallStream {
  std::vector<std::uint32_t> signatures;
  std::vector<std::uint64_t> times;
};

// What a call is, without its size, which may change from step to step.
CallStream read_calls(const reader::Trace& trace) {
  using Signature = std::tuple<std::uint64_t, std::uint64_t, std::uint64_t, std::uint64_t>;
  CallStream stream;
  std::map<Signature, std::uint32_t> numbers;
  trace.read({.kinds = reader::kCollectives}, [&](const reader::FrameView& frame) {
    for (const reader::CollectiveBatch& batch : frame.collectives) {
      for (std::size_t row = 0; row < batch.count && stream.times.size() < kMaxCalls; ++row) {
        if (batch.parent[row] != 0 || reader::is_point_to_point(reader::op_of(batch.tag[row]))) continue;
        const Signature signature{batch.group[row], batch.tag[row], batch.site[row], batch.peer[row]};
        const auto number = static_cast<std::uint32_t>(numbers.size());
        stream.signatures.push_back(numbers.try_emplace(signature, number).first->second);
        stream.times.push_back(batch.time_ns[row]);
      }
    }
    return true;
  });
  return stream;
}

bool repeats(std::span<const std::uint32_t> calls, std::size_t period) {
  const std::size_t compared = calls.size() - period;
  const std::size_t allowed = compared / 10;
  std::size_t different = 0;
  for (std::size_t i = period; i < calls.size(); ++i) {
    different += calls[i] != calls[i - period] ? 1 : 0;
    if (different > allowed) return false;
  }
  return true;
}

StepClock marked_steps(const Subject& subject, std::size_t trace) {
  const reader::StepTimeline& timeline = subject.run().traces()[trace].steps();
  StepClock clock;
  clock.marked = true;
  clock.first = 1;  // step 0 has no step before it to begin at
  for (std::int64_t step = 0; step < timeline.count(); ++step)
    clock.ends.push_back(subject.clock().since_start(trace, timeline.window(step).to_ns));
  return clock;
}

}  // namespace

std::size_t period_of(std::span<const std::uint32_t> signatures) {
  constexpr std::size_t kOccurrences = 3;
  signatures = signatures.subspan(signatures.size() / 5);
  if (signatures.size() > kWindow) signatures = signatures.last(kWindow);
  for (std::size_t period = 1; period <= kMaxPeriod && kOccurrences * period <= signatures.size(); ++period)
    if (repeats(signatures, period)) return period;
  return 0;
}

std::int64_t StepClock::duration(std::int64_t index) const {
  const auto place = static_cast<std::size_t>(index);
  return ends[place + 1] - ends[place];
}

std::int64_t StepClock::step_at(std::int64_t time) const {
  // A step includes its end, and excludes its beginning.
  return first + (std::lower_bound(ends.begin(), ends.end(), time) - ends.begin()) - 1;
}

StepClock step_clock(const Subject& subject, std::size_t trace) {
  if (subject.run().traces()[trace].steps().count() > 0) return marked_steps(subject, trace);
  const CallStream stream = read_calls(subject.run().traces()[trace]);
  StepClock clock;
  clock.calls = period_of(stream.signatures);
  if (clock.calls == 0) return clock;
  // Counted from the back, where the loop surely runs; what is left over at the front belongs to set-up.
  for (std::size_t i = (stream.times.size() - 1) % clock.calls; i < stream.times.size(); i += clock.calls)
    clock.ends.push_back(subject.clock().since_start(trace, stream.times[i]));
  return clock;
}

}  // namespace plumbline::checks
