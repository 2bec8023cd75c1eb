#include "checks/straggler_machine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "checks/processor_wait.hpp"
#include "checks/words.hpp"

namespace plumbline::checks {
namespace {

constexpr double kExplains = 0.6;
// Of the time: a machine on which threads wait that long is busy with something else as well.
constexpr double kBusy = 0.05;

// From the first judged step to the last, on the run's clock.
struct Stretch {
  std::int64_t from = 0;
  std::int64_t to = 0;
  std::int64_t length() const { return to - from; }
};

Stretch stretch_of(const StragglerScene& scene, std::size_t from, std::size_t to) {
  const auto begin = static_cast<std::size_t>(scene.first_step - scene.steps.first);
  return {scene.steps.ends[begin + from], scene.steps.ends[begin + to]};
}

std::optional<std::int64_t> recorded_wait(const StragglerScene& scene, std::size_t trace, const Stretch& stretch) {
  const auto on_trace = [&](std::int64_t time) {
    return scene.subject.clock().trace_time(trace, reader::RunClock::seconds(time));
  };
  return processor_wait(scene.subject.run().traces()[trace], on_trace(stretch.from), on_trace(stretch.to));
}

std::int64_t waited(const StragglerScene& scene, std::size_t trace, const Stretch& stretch) {
  return recorded_wait(scene, trace, stretch).value_or(0);
}

bool is_notable(std::int64_t wait, const Stretch& stretch) {
  return static_cast<double>(wait) >= kBusy * static_cast<double>(stretch.length());
}

std::string waited_text(std::int64_t nanoseconds) { return duration_text(static_cast<std::uint64_t>(nanoseconds)); }

// Did ranks of other hosts wait far less?
bool only_there(const StragglerScene& scene, const std::vector<std::size_t>& traces, const Stretch& stretch,
                std::int64_t theirs) {
  constexpr std::int64_t kFarLess = 4;
  std::int64_t most = -1;
  for (std::size_t trace = 0; trace < scene.scale.host.size(); ++trace) {
    const bool same = std::any_of(traces.begin(), traces.end(),
                                  [&](std::size_t one) { return scene.scale.host[one] == scene.scale.host[trace]; });
    if (!same) most = std::max(most, waited(scene, trace, stretch));
  }
  return most >= 0 && kFarLess * most < theirs;
}

}  // namespace

MachineShare machine_share(const StragglerScene& scene, const std::vector<std::size_t>& traces, std::int64_t lost) {
  const Stretch stretch = stretch_of(scene, 0, scene.durations.size());
  MachineShare share;
  share.known = true;
  std::int64_t sum = 0;
  std::int64_t most = 0;
  for (const std::size_t trace : traces) {
    const std::optional<std::int64_t> one = recorded_wait(scene, trace, stretch);
    share.known = share.known && one;
    sum += one.value_or(0);
    most = std::max(most, one.value_or(0));
  }
  share.waiting = std::min(1.0, static_cast<double>(most) / static_cast<double>(stretch.length()));
  for (std::size_t trace = 0; trace < scene.scale.host.size() && !share.busy; ++trace)
    share.busy = is_notable(waited(scene, trace, stretch), stretch);
  if (!is_notable(most, stretch)) return share;
  const bool at_fault = only_there(scene, traces, stretch, most);
  share.explains = !at_fault && static_cast<double>(sum) >= kExplains * static_cast<double>(lost);
  share.text = fmt::format("the training thread waited {} of {} for a processor: {}", waited_text(most),
                           waited_text(stretch.length()),
                           at_fault ? "on this host, and not on the others, something else runs, or more threads than "
                                      "processors"
                                    : "the machine is busy with something else, or with more threads than processors");
  return share;
}

MachineShare machine_share(const StragglerScene& scene, const CadenceChange& change) {
  const Stretch before = stretch_of(scene, 0, change.at);
  const Stretch after = stretch_of(scene, change.at, scene.durations.size());
  MachineShare share;
  double most = 0;
  for (std::size_t trace = 0; trace < scene.scale.host.size(); ++trace) {
    const std::optional<std::int64_t> whole = recorded_wait(scene, trace, after);
    if (!whole) continue;
    share.known = true;
    share.busy = share.busy || is_notable(*whole, after);
    const double earlier = static_cast<double>(waited(scene, trace, before)) / static_cast<double>(before.length());
    const double later = static_cast<double>(*whole) / static_cast<double>(after.length());
    // By how much a step became longer by such waits.
    const double more = later * static_cast<double>(change.after) - earlier * static_cast<double>(change.before);
    if (later < kBusy || more <= most) continue;
    most = more;
    share.explains = more >= kExplains * static_cast<double>(change.shift());
    share.text = fmt::format("training threads wait {:.0f} % of the time for a processor since then, {:.0f} % before",
                             100 * later, 100 * earlier);
  }
  return share;
}

}  // namespace plumbline::checks
