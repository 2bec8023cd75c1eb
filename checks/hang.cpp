#include "checks/hang.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "checks/call_text.hpp"
#include "checks/hang_doubt.hpp"
#include "checks/hang_titles.hpp"
#include "checks/hang_words.hpp"
#include "checks/whereabouts.hpp"
#include "checks/words.hpp"

namespace plumbline::checks {
namespace {

// Ranks that are told of one by one; a hang of a thousand ranks has the same few facts a thousand times.
constexpr std::size_t kToldInFull = 2;
constexpr std::size_t kEvidence = 16;
// Roots beyond these are counted: with so many the run is not held up by one of them.
constexpr std::size_t kMostRoots = 12;

template <class Line>
void tell(std::vector<std::string>& lines, const std::vector<const Party*>& parties, const Line& line) {
  for (std::size_t index = 0; index < parties.size() && index < kToldInFull; ++index) {
    lines.push_back(line(*parties[index]));
  }
  if (parties.size() > kToldInFull) {
    const std::vector<const Party*> rest(parties.begin() + kToldInFull, parties.end());
    lines.push_back(fmt::format("{}: likewise", ranks_phrase(ranks_of(rest))));
  }
}

void add_details(const HangScene& scene, const Judgement& judgement, Finding& finding) {
  std::vector<std::string>& lines = finding.details;
  const bool circle = judgement.root->kind == RootKind::kCircle;
  if (circle) {
    tell(lines, judgement.circle, [&](const Party& party) { return waiting_line(scene, party); });
  } else {
    tell(lines, judgement.guilty, [&](const Party& party) { return guilty_line(scene, *judgement.op, party); });
    tell(lines, judgement.waiting, [&](const Party& party) { return waiting_line(scene, party); });
  }
  if (!judgement.op->point_to_point) lines.push_back(wavefront_line(scene.front_of(*judgement.op)));
  if (judgement.root->affected.size() > judgement.waiting.size()) {
    lines.push_back(fmt::format("in the end {} for it", with_verb(judgement.root->affected, "waits", "wait")));
  }
  for (const auto* parties : {circle ? &judgement.circle : &judgement.guilty, &judgement.waiting}) {
    for (std::size_t index = 0; index < parties->size() && index < kToldInFull; ++index) {
      const Party& party = *(*parties)[index];
      if (party.standing == Standing::kNoTrace) continue;
      const std::uint64_t since = party.call != nullptr ? party.call->enqueue_ns : 0;
      for (std::string& line : stack_lines(scene.subject, party.trace, since)) lines.push_back(std::move(line));
    }
  }
}

void add_evidence(const HangScene& scene, const Judgement& judgement, Finding& finding) {
  for (const Party& party : judgement.op->parties) {
    if (party.call == nullptr) continue;
    if (finding.evidence.size() == kEvidence) return;
    const reader::Trace& trace = scene.trace_of(party);
    Evidence evidence;
    evidence.trace = trace.path();
    evidence.rank = party.rank;
    evidence.step = trace.steps().step_at(party.call->enqueue_ns);
    evidence.time_ns = static_cast<std::uint64_t>(
        std::max<std::int64_t>(0, scene.subject.clock().since_start(party.trace, party.call->enqueue_ns)));
    evidence.record = party.call->id;
    evidence.frame_offset = party.call->place.frame_offset;
    evidence.shows = call_text(*party.call);
    finding.evidence.push_back(std::move(evidence));
  }
}

// What the rank that is to be looked at is doing, in one sentence.
void fill_descent(const HangScene& scene, const Judgement& judgement, Finding& finding) {
  const OpenOp& op = *judgement.op;
  const GroupFront& front = scene.front_of(op);
  Descent& descent = finding.descent;
  const std::vector<const Party*>& circle = judgement.circle;
  const Party* guilty = judgement.guilty.empty() ? nullptr : judgement.guilty.front();
  const Party* waiting = judgement.waiting.empty() ? nullptr : judgement.waiting.front();
  if (judgement.root->kind == RootKind::kCircle && circle.size() > 1) {
    guilty = circle[0];
    const auto kept = std::find_if(circle.begin() + 1, circle.end(),
                                   [&](const Party* party) { return !judgement.has_strayed(party->rank); });
    waiting = kept == circle.end() ? circle[1] : *kept;
  }
  const std::size_t held =
      finding.affected.size() + (judgement.root->kind == RootKind::kAbsent ? 0 : finding.ranks.size());
  descent.run =
      fmt::format("{} of {} ranks stand still since {}, for {}", held, scene.graph.rank_count(),
                  time_text(reader::RunClock::seconds(op.since_ns)), duration_text(scene.patience.age(op.since_ns)));
  if (!finding.details.empty()) descent.rank = finding.details.front();
  descent.component =
      fmt::format("group {}{}", front_place(front), front.backend.empty() ? "" : ", backend " + front.backend);
  const reader::Collective* call = op.example();
  descent.operation = call != nullptr && !op.point_to_point ? call_text(*call) : op_name(op);
  if (op.point_to_point && call != nullptr) descent.operation += fmt::format(", {}", carried_text(*call));
  const auto add_line = [&](const Party* party, std::string_view verb) {
    if (party == nullptr) return;
    const std::string line = line_clause(scene, *party, verb);
    if (line.empty()) return;
    if (!descent.line.empty()) descent.line += "; ";
    descent.line += fmt::format("rank {} {}", party->rank, line);
  };
  const bool circle_of_waits = judgement.root->kind == RootKind::kCircle;
  add_line(guilty, circle_of_waits ? "waits at" : guilty != nullptr && guilty->call != nullptr ? "called at" : "is at");
  add_line(waiting, "waits at");
}

Finding finding_of(const HangScene& scene, const Judgement& judgement) {
  Finding finding;
  finding.title = attempt_prefix(scene.subject.run(), scene.attempt) + hang_title(scene, judgement);
  finding.ranks = judgement.ranks();
  add_details(scene, judgement, finding);
  add_doubts(scene, judgement, finding);
  add_evidence(scene, judgement, finding);
  finding.affected = judgement.root->affected;
  for (const Party* party : judgement.circle) {
    if (std::find(finding.affected.begin(), finding.affected.end(), party->rank) == finding.affected.end())
      finding.affected.push_back(party->rank);
  }
  std::sort(finding.affected.begin(), finding.affected.end());
  std::erase_if(finding.affected, [&](std::int32_t rank) {
    return std::find(finding.ranks.begin(), finding.ranks.end(), rank) != finding.ranks.end();
  });
  finding.time_ns = judgement.op->since_ns;
  const GroupFront& front = scene.front_of(*judgement.op);
  finding.place = {front.name, front.ranks(), static_cast<std::int64_t>(judgement.op->seq), op_name(*judgement.op)};
  fill_descent(scene, judgement, finding);
  finding.next = hang_next(scene, judgement);
  return finding;
}

void settle(const Subject& subject, std::uint64_t calls, Verdict& verdict) {
  const bool fails = std::any_of(verdict.findings.begin(), verdict.findings.end(),
                                 [](const Finding& finding) { return finding.status == Status::kFail; });
  const std::vector<int> missing = subject.run().missing_ranks();
  if (!missing.empty()) {
    verdict.unknown.push_back(
        fmt::format("what {} did: there is no trace", ranks_phrase({missing.begin(), missing.end()})));
  }
  if (fails) {
    verdict.status = Status::kFail;
    verdict.reason = "ranks wait for others that do not come, or for an operation that does not end";
  } else if (!verdict.findings.empty()) {
    verdict.status = Status::kInconclusive;
    verdict.reason = "operations are open, and may be merely under way";
  } else if (calls == 0) {
    verdict.status = Status::kNotEvaluated;
    verdict.reason = "no collective was recorded";
  } else if (!missing.empty()) {
    verdict.status = Status::kInconclusive;
    verdict.reason = "all recorded collectives finished, but ranks without a trace were not seen";
  } else {
    verdict.status = Status::kPass;
    verdict.reason = "no rank is left waiting in a collective";
  }
}

void examine(const Subject& subject, Attempt attempt, Verdict& verdict) {
  const std::vector<GroupFront> fronts = group_fronts(subject, attempt);
  const WaitGraph graph(subject, attempt, fronts);
  const HangScene scene{subject, attempt, fronts, graph, patience_of(subject, attempt)};
  const std::vector<Root> roots = graph.roots();
  std::vector<Judgement> judged;
  judged.reserve(roots.size());
  for (const Root& root : roots) judged.push_back(judge(scene, root));
  // That a rank left no trace explains a wait only where nothing else does.
  const auto seen = [](const Judgement& one) { return !one.rests_on_absence(); };
  if (std::any_of(judged.begin(), judged.end(), seen)) {
    std::stable_partition(judged.begin(), judged.end(), seen);
    while (!judged.empty() && !seen(judged.back())) judged.pop_back();
  }
  for (const Judgement& one : judged) {
    if (verdict.findings.size() == kMostRoots) {
      verdict.unknown.push_back(fmt::format("{} more waits without a common cause", judged.size() - kMostRoots));
      break;
    }
    verdict.findings.push_back(finding_of(scene, one));
  }
}

}  // namespace

Verdict check_hang(const Subject& subject) {
  Verdict verdict;
  verdict.check = "hang";
  std::uint64_t calls = 0;
  for (const reader::TraceSummary& summary : subject.summaries()) calls += summary.collectives;
  for (const Attempt attempt : attempts_of(subject.run())) examine(subject, attempt, verdict);
  std::stable_partition(verdict.findings.begin(), verdict.findings.end(),
                        [](const Finding& finding) { return finding.status == Status::kFail; });
  settle(subject, calls, verdict);
  return verdict;
}

}  // namespace plumbline::checks
