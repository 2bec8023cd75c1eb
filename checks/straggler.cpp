#include "checks/straggler.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

#include "checks/cadence.hpp"
#include "checks/periodicity.hpp"
#include "checks/straggler_growth.hpp"
#include "checks/straggler_lateness.hpp"
#include "checks/straggler_machine.hpp"
#include "checks/straggler_pattern.hpp"
#include "checks/straggler_steps.hpp"
#include "checks/straggler_words.hpp"
#include "checks/words.hpp"
#include "reader/match.hpp"

namespace plumbline::checks {
namespace {

constexpr std::int64_t kMs = 1'000'000;
// Fewer steps than that, after warm-up, cannot tell a slow rank from scatter.
constexpr std::size_t kEnoughSteps = 8;
constexpr std::int64_t kLeastShare = 20;  // one in so many, 5 %
// A long step must lose that much; more where no rank is to be named, as the machine may do that to all.
constexpr std::int64_t kStall = 250 * kMs;
constexpr std::int64_t kCommonStall = 1000 * kMs;
// Slower steps on all ranks must have gone on for that long to be a change, and no other load on the machine.
constexpr std::int64_t kLastingChange = 5000 * kMs;

bool is_judged(const reader::Run& run, const reader::Trace& trace) {
  return trace.launch() == run.launches() - 1 && trace.attempt() == run.last_attempt() && trace.rank() >= 0;
}

// The rank that the steps are counted by: the first that marks any, else the first.
std::optional<std::size_t> reference_of(const reader::Run& run) {
  std::optional<std::size_t> first;
  for (std::size_t index = 0; index < run.traces().size(); ++index) {
    if (!is_judged(run, run.traces()[index])) continue;
    if (run.traces()[index].steps().count() > 0) return index;
    if (!first) first = index;
  }
  return first;
}

std::vector<std::size_t> hosts_of(const reader::Run& run, std::size_t reference) {
  std::map<std::string, std::size_t> numbers;
  std::vector<std::size_t> hosts;
  for (const reader::Trace& trace : run.traces()) {
    // A trace that is not judged must not look like another host.
    const std::string& host = is_judged(run, trace) ? trace.host() : run.traces()[reference].host();
    hosts.push_back(numbers.try_emplace(host, numbers.size()).first->second);
  }
  return hosts;
}

struct Times {
  std::vector<std::int64_t> all;  // of every step, from StepClock::first on
  std::size_t warm_up = 0;
  std::span<const std::int64_t> judged() const { return std::span(all).subspan(warm_up); }
};

Times times_of(const StepClock& steps) {
  Times times;
  for (std::int64_t index = 0; index < steps.count(); ++index) times.all.push_back(steps.duration(index));
  times.warm_up = warm_up_steps(times.all);
  return times;
}

std::int64_t sum_of(std::span<const std::int64_t> values) {
  std::int64_t sum = 0;
  for (const std::int64_t value : values) sum += value;
  return sum;
}

void look(const Subject& subject, LatenessTracker& tracker, bool marked) {
  reader::match_collectives(subject.run(), {.steps = marked}, [&](const reader::MatchedCollective& match) {
    tracker.add(match);
    return true;
  });
  tracker.finish();
}

// The rank whose lateness makes up a change of the step time, by its longest wait afterwards.
const LateCall* cause_of(const StragglerScene& scene, const CadenceChange& change) {
  const std::int64_t at = scene.first_step + static_cast<std::int64_t>(change.at);
  const auto before = static_cast<double>(change.at);
  const auto after = static_cast<double>(scene.durations.size() - change.at);
  std::map<std::size_t, double> more;
  for (const LateStep& step : scene.book.steps())
    more[step.late] += static_cast<double>(step.lost) / (step.step < at ? -before : after);
  const auto most =
      std::max_element(more.begin(), more.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  if (most == more.end() || 2 * most->second < static_cast<double>(change.shift())) return nullptr;
  const LateCall* worst = nullptr;
  for (const LateStep& step : scene.book.steps()) {
    if (step.step < at || step.late != most->first) continue;
    if (worst == nullptr || step.lost > worst->lost) worst = &step.worst;
  }
  return worst;
}

// How many steps were slower.
std::int64_t lasted(const StragglerScene& scene, const CadenceChange& change) {
  return static_cast<std::int64_t>(scene.durations.size() - change.at);
}

void lay_to_machine(const MachineShare& share, Finding& finding) {
  if (!share.text.empty()) finding.details.push_back(share.text);
  if (!share.explains) return;
  finding.status = Status::kInconclusive;
  finding.next = "run the job once while nothing else runs on the machine, and compare";
}

bool meets(const StragglerBar& bar, const StragglerScene& scene, std::int64_t lost) {
  return lost >= bar.lost && static_cast<double>(lost) >= bar.share * static_cast<double>(scene.scale.total);
}

// May a busy machine be the cause, though the late ranks themselves waited little for it? Their workers may have.
bool may_be_machine(const StragglerScene& scene, const Straggling& found, const MachineShare& share) {
  if (!share.known) return true;
  if (!share.busy) return false;
  const GapKind usual = usual_gap(scene, found).kind;
  return usual == GapKind::kDataLoader || (found.pattern == Pattern::kMoving && usual != GapKind::kGarbage);
}

// Do collections of garbage alone cost that much? On a busy machine they take longer too: what is left without the
// waits for a processor counts, and half of that, as threads wait for one while they have something to do only.
bool is_garbage(const StragglerScene& scene, const Straggling& found, const StragglerBar& bar,
                const MachineShare& share) {
  const auto collecting = static_cast<double>(collected_in(scene, found)) * (1 - share.waiting) / 2;
  return collecting >= std::max(bar.share, 1.0 / kLeastShare) * static_cast<double>(scene.scale.total) &&
         collecting >= static_cast<double>(bar.lost);
}

void add_straggling(const StragglerScene& scene, const Straggling& found, const StragglerBar& bar, Verdict& verdict) {
  Finding finding = straggling_finding(scene, found);
  MachineShare share = machine_share(scene, found.traces, found.lost);
  share.explains = share.explains && !is_garbage(scene, found, bar, share);
  lay_to_machine(share, finding);
  if (!meets(bar, scene, found.lost) || (bar.not_the_machine && may_be_machine(scene, found, share)))
    finding.status = Status::kInconclusive;
  verdict.findings.push_back(std::move(finding));
}

bool meets(const StragglerBar& bar, const StragglerScene& scene, const CadenceChange& change, const LateCall* cause,
           const MachineShare& share) {
  if (!meets(bar, scene, change.shift() * lasted(scene, change))) return false;
  if (bar.not_the_machine && !share.known) return false;
  if (cause != nullptr) return true;
  return static_cast<double>(change.shift()) >= bar.slowdown * static_cast<double>(change.before) &&
         (bar.slowdown == 0 || work_growth(scene, change) < kMoreWork);
}

void add_slowdown(const StragglerScene& scene, const std::optional<Straggling>& found, const StragglerBar& bar,
                  Verdict& verdict) {
  const auto change = slowdown(scene.durations);
  if (!change) return;
  const LateCall* cause = cause_of(scene, *change);
  if (cause == nullptr && sum_of(scene.durations.subspan(change->at)) < kLastingChange) return;
  Finding finding = slowdown_finding(scene, *change, cause);
  const MachineShare share = cause == nullptr
                                 ? machine_share(scene, *change)
                                 : machine_share(scene, {cause->trace}, change->shift() * lasted(scene, *change));
  lay_to_machine(share, finding);
  if (!meets(bar, scene, *change, cause, share)) finding.status = Status::kInconclusive;
  const bool known = found && cause != nullptr &&
                     std::find(found->traces.begin(), found->traces.end(), cause->trace) != found->traces.end();
  // Of a rank that is named already it says since when.
  if (known) {
    verdict.findings.front().details.push_back(finding.title);
  } else {
    verdict.findings.push_back(std::move(finding));
  }
}

const LateStep* late_in(const StragglerScene& scene, std::int64_t step, std::int64_t excess) {
  for (const LateStep& late : scene.book.steps()) {
    // Where steps are inferred, a wait may be counted to the neighbour of the step that it made long.
    if (std::abs(late.step - step) <= (scene.steps.marked ? 0 : 1) && 2 * late.lost >= excess) return &late;
  }
  return nullptr;
}

bool is_part_of(const Straggling& found, const StepBook& book, std::int64_t step) {
  return std::any_of(found.steps.begin(), found.steps.end(),
                     [&](std::size_t place) { return std::abs(book.steps()[place].step - step) <= 1; });
}

// Gives how many long steps cost too little to be a finding.
std::size_t add_stalls(const StragglerScene& scene, const std::optional<Straggling>& found, Verdict& verdict) {
  constexpr std::size_t kShown = 3;
  struct Stall {
    std::size_t step;
    std::int64_t excess;
    const LateStep* late;
  };
  std::vector<Stall> stalls;
  std::int64_t lost = 0;
  for (const std::size_t step : stalled_steps(scene.durations)) {
    const std::int64_t number = scene.first_step + static_cast<std::int64_t>(step);
    if (found && is_part_of(*found, scene.book, number)) continue;
    const std::int64_t excess = scene.durations[step] - scene.scale.step_time;
    const LateStep* late = late_in(scene, number, excess);
    if (excess < (late != nullptr ? kStall : kCommonStall)) continue;
    stalls.push_back({step, excess, late});
    lost += excess;
  }
  if (kLeastShare * lost < scene.scale.total) return stalls.size();
  std::stable_sort(stalls.begin(), stalls.end(), [](const Stall& a, const Stall& b) { return a.excess > b.excess; });
  for (std::size_t i = 0; i < std::min(stalls.size(), kShown); ++i)
    verdict.findings.push_back(stall_finding(scene, stalls[i].step, stalls[i].late));
  return 0;
}

void conclude(const StragglerScene& scene, std::size_t small_stalls, Verdict& verdict) {
  const auto fails = [](const Finding& finding) { return finding.status == Status::kFail; };
  if (std::any_of(verdict.findings.begin(), verdict.findings.end(), fails)) {
    verdict.status = Status::kFail;
    verdict.reason = verdict.findings.front().ranks.empty() ? "steps are slow" : "a rank is slow";
    return;
  }
  verdict.status = verdict.findings.empty() ? Status::kPass : Status::kInconclusive;
  verdict.reason =
      verdict.findings.empty()
          ? fmt::format("in {} steps of {} no rank kept the others waiting for 5 % of the time", scene.durations.size(),
                        duration_text(static_cast<std::uint64_t>(scene.scale.step_time)))
          : "time is lost, but nothing says that a rank is slow by its own doing";
  if (small_stalls > 0) verdict.reason += fmt::format("; {} single steps were long, under 5 % in all", small_stalls);
}

}  // namespace

Verdict check_straggler(const Subject& subject) { return check_straggler(subject, {}); }

Verdict check_straggler(const Subject& subject, const StragglerBar& bar) {
  Verdict verdict;
  verdict.check = "straggler";
  verdict.reason = "no collective was recorded on two ranks of its group";
  const auto reference = reference_of(subject.run());
  if (!reference) return verdict;
  const StepClock steps = step_clock(subject, *reference);
  const Times times = times_of(steps);
  const std::span<const std::int64_t> judged = times.judged();
  const PatternScale scale{median_of({judged.begin(), judged.end()}), sum_of(judged),
                           hosts_of(subject.run(), *reference)};

  const std::int64_t first = steps.first + static_cast<std::int64_t>(times.warm_up);
  StepBook book(subject.run().traces().size(), first, first + static_cast<std::int64_t>(judged.size()) - 1,
                least_loss(scale.step_time));
  LatenessTracker tracker(subject, steps, [&](const Lateness& lateness) { book.add(lateness); });
  look(subject, tracker, steps.marked);
  book.finish();
  if (tracker.compared() == 0) return verdict;
  if (tracker.unclear() == tracker.compared()) {
    verdict.status = Status::kInconclusive;
    verdict.reason = "the hosts' clocks cannot be compared, so nobody can say who came late";
    return verdict;
  }
  if (judged.size() < kEnoughSteps) {
    verdict.status = Status::kInconclusive;
    verdict.reason = fmt::format("{} steps after warm-up are too few to tell a slow rank from scatter", judged.size());
    return verdict;
  }
  if (tracker.unclear() > 0)
    verdict.unknown.emplace_back("who came late to collectives between hosts without a common clock");

  const StragglerScene scene{subject, steps, *reference, book, tracker.groups(), scale, first, judged};
  const auto found = find_straggling(book, scale);
  if (found) add_straggling(scene, *found, bar, verdict);
  add_slowdown(scene, found, bar, verdict);
  conclude(scene, add_stalls(scene, found, verdict), verdict);
  return verdict;
}

}  // namespace plumbline::checks
