#include "checks/straggler_words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "checks/call_text.hpp"
#include "checks/straggler_growth.hpp"
#include "checks/whereabouts.hpp"
#include "checks/words.hpp"
#include "reader/names.hpp"

namespace plumbline::checks {
namespace {

std::string length_text(std::int64_t nanoseconds) {
  return duration_text(static_cast<std::uint64_t>(std::max<std::int64_t>(nanoseconds, 0)));
}

std::string percent_text(double share) { return fmt::format("{:.0f} %", 100 * share); }

const reader::Trace& trace_of(const StragglerScene& scene, std::size_t trace) {
  return scene.subject.run().traces()[trace];
}

std::vector<std::int32_t> ranks_of(const StragglerScene& scene, const std::vector<std::size_t>& traces) {
  std::vector<std::int32_t> ranks;
  ranks.reserve(traces.size());
  for (const std::size_t trace : traces) ranks.push_back(trace_of(scene, trace).rank());
  return ranks;
}

std::string group_text(const WaitGroup& group) { return fmt::format("{} ({})", group.name, ranks_phrase(group.ranks)); }

// "all_reduce in default_pg (ranks 0,1), called at jobs/train.py:41 in main".
std::string place_text(const StragglerScene& scene, std::size_t trace, std::size_t group, reader::Op op,
                       std::uint64_t site) {
  std::string text = fmt::format("{} in {}", reader::name_of(op), group_text(scene.groups[group]));
  if (site != 0) text += fmt::format(", called at {}", site_text(trace_of(scene, trace).text(site)));
  return text;
}

std::string step_text(const StragglerScene& scene, std::int64_t step) {
  return fmt::format("{} {}", scene.steps.marked ? "step" : "period", step);
}

std::string times_text(const LateCall& late) { return time_text(reader::RunClock::seconds(late.called)); }

Evidence evidence_of(const StragglerScene& scene, const LateCall& late, std::int64_t step) {
  const reader::Trace& trace = trace_of(scene, late.trace);
  const std::string& path = trace.path().empty() ? trace.ring_path() : trace.path();
  Evidence evidence;
  evidence.trace = std::filesystem::path(path).filename().string();
  evidence.rank = trace.rank();
  evidence.step = step;
  evidence.time_ns = static_cast<std::uint64_t>(std::max<std::int64_t>(late.called, 0));
  evidence.record = late.id;
  evidence.frame_offset = late.frame_offset;
  evidence.shows =
      fmt::format("{} #{}: the others had waited {}", reader::name_of(late.op), late.seq, length_text(late.lost));
  return evidence;
}

// What to look at next, by what the slow rank did.
std::string next_for(GapKind kind, const std::string& rank) {
  switch (kind) {
    case GapKind::kDataLoader:
      return fmt::format("time next(loader) on {} alone; more workers or prefetching would hide it", rank);
    case GapKind::kGarbage:
      return "gc.freeze() after set-up, then gc.disable() and gc.collect() on all ranks in the same step";
    case GapKind::kSilent:
      return fmt::format("py-spy dump of {} during such a pause", rank);
    case GapKind::kComputing:
    case GapKind::kRange:
      return fmt::format("run the same step on {} and on another rank's device without collectives, and compare times",
                         rank);
    case GapKind::kUnknown:
      break;
  }
  return fmt::format("time the part of the step before this call on {}", rank);
}

// Where and how a rank was late, from its longest wait.
void describe(const StragglerScene& scene, const LateCall& late, std::int64_t step, Finding& finding) {
  const std::string rank = fmt::format("rank {}", trace_of(scene, late.trace).rank());
  const Gap gap = look_at_gap(scene.subject, late);
  const WaitGroup& group = scene.groups[late.group];
  finding.details.push_back(fmt::format("longest: {}, {} at {}: {} came {} late to {} #{}", step_text(scene, step),
                                        group.name, times_text(late), rank, length_text(late.lost),
                                        reader::name_of(late.op), late.seq));
  finding.details.push_back(fmt::format("{}: {}", rank, gap.text()));
  finding.place.group = group.name;
  finding.place.group_ranks = group.ranks;
  finding.place.seq = static_cast<std::int64_t>(late.seq);
  finding.place.operation = reader::name_of(late.op);
  finding.descent.component = fmt::format("group {}", group_text(group));
  finding.descent.operation = fmt::format("{} #{}", reader::name_of(late.op), late.seq);
  if (late.site != 0) finding.descent.line = site_text(trace_of(scene, late.trace).text(late.site));
  finding.next = next_for(gap.kind, rank);
  for (const std::int32_t member : group.ranks) {
    if (std::find(finding.ranks.begin(), finding.ranks.end(), member) == finding.ranks.end())
      finding.affected.push_back(member);
  }
}

// The steps of a pattern, longest loss first.
std::vector<std::size_t> longest_first(const StragglerScene& scene, const Straggling& found) {
  std::vector<std::size_t> steps = found.steps;
  std::stable_sort(steps.begin(), steps.end(), [&](std::size_t a, std::size_t b) {
    return scene.book.steps()[a].lost > scene.book.steps()[b].lost;
  });
  return steps;
}

std::string cause_text(const GapCount& usual) {
  switch (usual.kind) {
    case GapKind::kGarbage:
      return "it collected Python's garbage";
    case GapKind::kDataLoader:
      return "it waited for its data loader";
    case GapKind::kSilent:
      return "nothing that is hooked went on in it";
    case GapKind::kRange:
    case GapKind::kComputing:
      return "it computed";
    case GapKind::kUnknown:
      break;
  }
  return {};
}

std::string pattern_title(const StragglerScene& scene, const Straggling& found) {
  const std::string who = ranks_phrase(ranks_of(scene, found.traces));
  const bool one = found.traces.size() == 1;
  const bool all_steps = 2 * found.steps.size() >= scene.book.steps().size();
  const std::string when =
      all_steps ? "a step" : fmt::format("in {} of {} steps", found.steps.size(), scene.book.steps().size());
  const std::string cost =
      fmt::format("{} {}, {} of the time", length_text(found.typical), when, percent_text(found.share));
  switch (found.pattern) {
    case Pattern::kFixed:
      return fmt::format("{} {} slow: the others wait {}", who, one ? "is" : "are", cost);
    case Pattern::kHost:
      return fmt::format("host {} is slow ({}): the others wait {}", trace_of(scene, found.traces.front()).host(), who,
                         cost);
    case Pattern::kWork:
      return fmt::format("the rank with most work is slow ({}): the others wait {}", who, cost);
    case Pattern::kMoving:
      return fmt::format("{} are slow by turns: the others wait {}", who, cost);
    case Pattern::kTurns:
      return fmt::format("ranks wait for each other by turns: {}", cost);
  }
  return {};
}

std::string pattern_text(const StragglerScene& scene, const Straggling& found) {
  const auto& steps = scene.book.steps();
  switch (found.pattern) {
    case Pattern::kFixed: {
      const LateStep& worst = steps[longest_first(scene, found).front()];
      if (worst.excess > 0.1 && worst.busiest == worst.late) {
        return fmt::format("always the same: it also carries {} more elements than the others have",
                           percent_text(worst.excess));
      }
      return found.traces.size() == 1 ? "always the same rank, and its collectives carry no more than the others'"
                                      : "always the same ranks";
    }
    case Pattern::kHost:
      return "it is the ranks of one host, and no others: look at that host (clock speed, cooling, other load, its "
             "storage)";
    case Pattern::kWork:
      return fmt::format("it moves between ranks with the work: lost time and excess of elements correlate by {:.2f}",
                         found.correlation);
    case Pattern::kMoving: {
      std::string text = "it moves between ranks:";
      for (const std::size_t trace : found.traces) {
        const auto count = std::count_if(found.steps.begin(), found.steps.end(),
                                         [&](std::size_t place) { return steps[place].late == trace; });
        text += fmt::format(" rank {} in {} steps,", trace_of(scene, trace).rank(), count);
        if (text.size() > 70) break;
      }
      text.pop_back();
      return text + "; no rank is to blame by itself";
    }
    case Pattern::kTurns:
      return "no rank, host or amount of work stands out, so it may be scatter of the machine";
  }
  return {};
}

void add_places(const StragglerScene& scene, std::size_t trace, Finding& finding) {
  constexpr std::size_t kShown = 3;
  const std::vector<StepBook::PlaceLoss> places = scene.book.places_of(trace);
  for (std::size_t i = 0; i < std::min(places.size(), kShown); ++i) {
    if (10 * places[i].lost < places.front().lost) break;
    finding.details.push_back(fmt::format("late to {}: {} in {} calls",
                                          place_text(scene, trace, places[i].group, places[i].op, places[i].site),
                                          length_text(places[i].lost), places[i].calls));
  }
}

}  // namespace

GapCount usual_gap(const StragglerScene& scene, const Straggling& found) {
  constexpr std::size_t kLooked = 6;
  const std::vector<std::size_t> longest = longest_first(scene, found);
  std::map<GapKind, std::size_t> counts;
  GapCount usual;
  usual.of = std::min(longest.size(), kLooked);
  for (std::size_t i = 0; i < usual.of; ++i) {
    const GapKind kind = look_at_gap(scene.subject, scene.book.steps()[longest[i]].worst).kind;
    if (++counts[kind] <= usual.count) continue;
    usual.count = counts[kind];
    usual.kind = kind;
  }
  return usual;
}

std::int64_t collected_in(const StragglerScene& scene, const Straggling& found) {
  constexpr std::size_t kLooked = 100;
  const std::vector<std::size_t> longest = longest_first(scene, found);
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < std::min(longest.size(), kLooked); ++i) {
    const LateStep& step = scene.book.steps()[longest[i]];
    sum += std::min(step.lost, look_at_gap(scene.subject, step.worst).collecting);
  }
  return sum;
}

Finding straggling_finding(const StragglerScene& scene, const Straggling& found) {
  constexpr std::size_t kEvidence = 6;
  Finding finding;
  finding.status = found.pattern == Pattern::kTurns ? Status::kInconclusive : Status::kFail;
  finding.title = pattern_title(scene, found);
  if (found.pattern != Pattern::kTurns) finding.ranks = ranks_of(scene, found.traces);
  std::sort(finding.ranks.begin(), finding.ranks.end());
  const std::int64_t a_step =
      found.lost / static_cast<std::int64_t>(std::max<std::size_t>(scene.book.steps().size(), 1));
  finding.details.push_back(pattern_text(scene, found));
  finding.details.push_back(fmt::format("lost {} in all, {} a step on average; a step takes {}",
                                        length_text(found.lost), length_text(a_step),
                                        length_text(scene.scale.step_time)));
  add_places(scene, found.traces.front(), finding);
  if (const GapCount usual = usual_gap(scene, found); usual.of > 1 && usual.kind != GapKind::kUnknown) {
    finding.details.push_back(
        fmt::format("in {} of the {} longest waits for a rank {}", usual.count, usual.of, cause_text(usual)));
  }
  const std::vector<std::size_t> longest = longest_first(scene, found);
  const LateStep& worst = scene.book.steps()[longest.front()];
  describe(scene, worst.worst, worst.step, finding);
  if (found.pattern == Pattern::kWork) {
    finding.next = "balance the tokens of a step over the ranks (by length, not by rows), and compare the step time";
  } else if (found.pattern == Pattern::kHost) {
    finding.next = "run the job once without that host, or a compute benchmark on it and on another";
  }
  const LateStep& first = scene.book.steps()[found.steps.front()];
  finding.time_ns = first.worst.free_since >= 0 ? first.worst.free_since : first.worst.called;
  finding.descent.run = finding.details[1];
  finding.descent.rank = finding.title;
  for (std::size_t i = 0; i < std::min(longest.size(), kEvidence); ++i) {
    const LateStep& step = scene.book.steps()[longest[i]];
    finding.evidence.push_back(evidence_of(scene, step.worst, step.step));
  }
  return finding;
}

Finding slowdown_finding(const StragglerScene& scene, const CadenceChange& change, const LateCall* late) {
  const std::int64_t step = scene.first_step + static_cast<std::int64_t>(change.at);
  Finding finding;
  finding.title = fmt::format("steps are slower since {}: {} instead of {} ({} more)", step_text(scene, step),
                              length_text(change.after), length_text(change.before),
                              percent_text(static_cast<double>(change.shift()) / static_cast<double>(change.before)));
  finding.details.push_back(fmt::format("medians of {} steps before and {} after; they scatter by {}", change.at,
                                        scene.durations.size() - change.at, length_text(change.scatter)));
  finding.time_ns = scene.steps.ends[static_cast<std::size_t>(step - scene.steps.first)];
  finding.descent.run = finding.title;
  if (late != nullptr) {
    finding.ranks = {trace_of(scene, late->trace).rank()};
    finding.title += fmt::format(", by rank {} being slow", finding.ranks.front());
    describe(scene, *late, step, finding);
    finding.evidence.push_back(evidence_of(scene, *late, step));
  } else {
    finding.details.emplace_back("all ranks became slower together: no rank waits longer for another than before");
    const double growth = work_growth(scene, change);
    if (growth >= kMoreWork) {
      finding.details.push_back(
          fmt::format("each step also asks for {} more memory than before: it has more to do", percent_text(growth)));
    }
    finding.next = fmt::format("compare what the job does from {} on: row lengths, logging, checkpoints, clock speed",
                               step_text(scene, step));
  }
  return finding;
}

Finding stall_finding(const StragglerScene& scene, std::size_t step, const LateStep* late) {
  const std::int64_t number = scene.first_step + static_cast<std::int64_t>(step);
  Finding finding;
  // What happened once may be the machine's doing: it is told, but it is no pattern.
  finding.status = Status::kInconclusive;
  finding.title = fmt::format("{} took {} instead of {}", step_text(scene, number), length_text(scene.durations[step]),
                              length_text(scene.scale.step_time));
  finding.time_ns = scene.steps.ends[static_cast<std::size_t>(number - scene.steps.first)];
  finding.descent.run = finding.title;
  if (late != nullptr) {
    finding.ranks = {trace_of(scene, late->late).rank()};
    finding.title +=
        fmt::format(": rank {} was slow, the others waited {}", finding.ranks.front(), length_text(late->lost));
    describe(scene, late->worst, late->step, finding);
    finding.evidence.push_back(evidence_of(scene, late->worst, late->step));
  } else {
    finding.title += ": all ranks were slow";
    finding.details.emplace_back(
        "no rank waited for another: something that all of them do or share (checkpoint, "
        "evaluation, file system, machine)");
    finding.next = fmt::format("look at what the script does in {}", step_text(scene, number));
  }
  return finding;
}

}  // namespace plumbline::checks
