#include "checks/hang_doubt.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "checks/hang_words.hpp"
#include "checks/whereabouts.hpp"
#include "checks/words.hpp"

namespace plumbline::checks {
namespace {

// May events of this trace be missing, so that "it never called" could be a lost record?
bool may_lack_calls(const reader::Trace& trace) {
  const auto& dropped = trace.dropped();
  const auto kind = static_cast<std::size_t>(recorder::Kind::kCollective);
  if (dropped.size() > kind && dropped[kind] > 0) return true;
  if (!trace.damage().empty() || trace.stop() != nullptr) return true;
  return !is_imported(trace) &&
         (trace.ring_join() == reader::RingJoin::kUnusable || trace.ring_join() == reader::RingJoin::kNone);
}

bool stood_still(const HangScene& scene, const Party& party) {
  if (party.call == nullptr) return false;
  const reader::Stack* stack = stack_since(scene.trace_of(party), party.call->enqueue_ns);
  return stack != nullptr && stack->reason == reader::StackReason::kStall;
}

// Did this rank leave before it could join, in a way that the end of the whole job does not explain?
bool left_before(const HangScene& scene, const Party& party, const std::vector<const Party*>& waiting) {
  const Ending& ending = scene.subject.ending(party.trace);
  if (!ending.ended()) return false;
  if (ending.kind != EndingKind::kKilled && ending.origin != Origin::kToldToEnd) return true;
  // Killed: with the others, or before them?
  constexpr std::int64_t kTogether = 1'000'000'000;
  const std::int64_t end = scene.subject.clock().since_start(party.trace, ending.time_ns);
  return std::any_of(waiting.begin(), waiting.end(), [&](const Party* other) {
    const std::uint64_t last = std::max(scene.trace_of(*other).last_ns(), scene.subject.ending(other->trace).time_ns);
    return scene.subject.clock().since_start(other->trace, last) > end + kTogether;
  });
}

// Could the difference be gone when the run is read again, or would it be if the job had not been ended?
bool may_be_in_flight(const HangScene& scene, const Judgement& judgement) {
  if (scene.patience.is_over(judgement.op->since_ns)) return false;
  if (!judgement.op->with(Standing::kFailed).empty()) return false;
  const Cause cause = judgement.blame.cause;
  if (cause == Cause::kMismatch || cause == Cause::kRaised || cause == Cause::kEndedInside) return false;
  for (const auto* parties : {&judgement.waiting, &judgement.circle}) {
    if (std::any_of(parties->begin(), parties->end(), [&](const Party* party) { return stood_still(scene, *party); }))
      return false;
  }
  // A dump is written because a collective has timed out.
  if (judgement.op->example() == nullptr) return false;
  for (const Party& party : judgement.op->parties) {
    if (party.standing == Standing::kNoTrace) continue;
    const std::string_view format = scene.trace_of(party).definitions().fact("source.format");
    if (format.find("flight recorder") != std::string_view::npos) return false;
  }
  if (judgement.root->kind != RootKind::kAbsent) return true;
  return std::none_of(judgement.guilty.begin(), judgement.guilty.end(), [&](const Party* party) {
    return party->standing == Standing::kAbsent && left_before(scene, *party, judgement.waiting);
  });
}

}  // namespace

void add_doubts(const HangScene& scene, const Judgement& judgement, Finding& finding) {
  if (may_be_in_flight(scene, judgement)) {
    finding.status = Status::kInconclusive;
    finding.unknown.push_back(fmt::format(
        "whether {} will still get there: it has lasted {}, and up to {} would be nothing unusual; read the run again "
        "later",
        ranks_phrase(finding.ranks.empty() ? ranks_of(judgement.waiting) : finding.ranks),
        duration_text(scene.patience.age(judgement.op->since_ns)), duration_text(scene.patience.limit_ns)));
  }
  for (const Party* party : judgement.guilty) {
    if (party->standing != Standing::kAbsent || !may_lack_calls(scene.trace_of(*party))) continue;
    finding.status = Status::kInconclusive;
    finding.unknown.push_back(
        fmt::format("whether rank {} made the call: events of its trace are lost (run-reader verify)", party->rank));
  }
  if (const auto unseen = ranks_of(judgement.op->with(Standing::kNoTrace)); !unseen.empty()) {
    finding.unknown.push_back(fmt::format("what {} did: there is no trace", ranks_phrase(unseen)));
  }
  if (!scene.front_of(*judgement.op).completions_seen) {
    finding.unknown.push_back(
        fmt::format("which calls of {} had finished: their ends are not recorded", scene.front_of(*judgement.op).name));
  }
  const bool no_stack = std::none_of(finding.details.begin(), finding.details.end(),
                                     [](const std::string& line) { return line.find(" stood") != std::string::npos; });
  if (no_stack && judgement.root->kind == RootKind::kAbsent && !judgement.rests_on_absence() &&
      !scene.subject.ending(judgement.guilty.front()->trace).ended()) {
    finding.unknown.push_back(
        fmt::format("where in the code {}: no stack was recorded", with_verb(finding.ranks, "stands", "stand")));
  }
}

}  // namespace plumbline::checks
