#include "checks/collective_findings.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "checks/call_text.hpp"
#include "checks/observations.hpp"
#include "checks/words.hpp"
#include "reader/collectives.hpp"
#include "reader/names.hpp"
#include "recorder/operations.hpp"

namespace plumbline::checks {
namespace {

constexpr std::size_t kMostEvidence = 8;

void insert_once(std::vector<std::int32_t>& into, const std::vector<std::int32_t>& ranks) {
  for (const std::int32_t rank : ranks) {
    if (std::find(into.begin(), into.end(), rank) == into.end()) into.push_back(rank);
  }
}

// "train.py:12 in step", of the first of these ranks whose line is known.
std::string line_of(const Subject& subject, const CapturedCall& call, const std::vector<std::int32_t>& ranks) {
  for (const CallMember& member : call.members) {
    if (member.id == 0 || std::find(ranks.begin(), ranks.end(), member.rank) == ranks.end()) continue;
    const reader::Trace& trace = subject.run().traces()[member.trace];
    std::string line;
    reader::read_collectives(trace, {.steps = false}, [&](const reader::Collective& one) {
      if (one.id == member.id) line = trace.text(one.site);
      return one.id != member.id;
    });
    if (!line.empty()) return line;
  }
  return {};
}

std::string operation(const CapturedCall& call) {
  const auto reduce = recorder::is_reduction(call.op) ? reader::name_of(call.reduce) : std::string_view();
  return fmt::format("{}{}{} #{}", reader::name_of(call.op), reduce.empty() ? "" : " ", reduce, call.seq);
}

void add_evidence(const Subject& subject, const CapturedCall& call, std::size_t tensor, const std::string& cause,
                  const std::vector<std::int32_t>& wrong, Finding& finding) {
  for (const CallMember& member : call.members) {
    const bool guilty = std::find(wrong.begin(), wrong.end(), member.rank) != wrong.end();
    if (finding.evidence.size() >= kMostEvidence) return;
    if (const CallTensor* out = member.output(tensor); guilty && out != nullptr)
      finding.evidence.push_back(evidence_of(subject, *out->capture, "what the rank got: it " + cause));
    if (const CallTensor* in = member.input(tensor))
      finding.evidence.push_back(evidence_of(subject, *in->capture, "what the rank gave"));
  }
}

}  // namespace

void CollectiveFindings::add(WrongResult result) {
  const std::string kind = result.kind.empty() ? result.cause : result.kind;
  const auto [at, made] =
      kinds_.try_emplace({result.certain, result.call->group, result.call->op, result.call->reduce, kind});
  Gathered& gathered = at->second;
  const CapturedCall* const call = result.call;
  insert_once(gathered.ranks, result.ranks);
  // Calls come by step.
  if (!made && call == gathered.first.call) insert_once(gathered.first.ranks, result.ranks);
  if (made) gathered.first = std::move(result);
  if (gathered.calls.empty() || gathered.calls.back() != call) gathered.calls.push_back(call);
}

std::vector<Finding> CollectiveFindings::findings(const Subject& subject) const {
  std::vector<Finding> findings;
  std::vector<std::pair<std::pair<bool, std::int64_t>, const Gathered*>> ordered;
  for (const auto& [kind, gathered] : kinds_) {
    ordered.push_back({{!std::get<0>(kind), gathered.first.call->step}, &gathered});
  }
  std::stable_sort(ordered.begin(), ordered.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  for (const auto& [order, gathered] : ordered) {
    const WrongResult& first = gathered->first;
    const CapturedCall& call = *first.call;
    Finding finding;
    finding.status = first.certain ? Status::kFail : Status::kInconclusive;
    finding.ranks = gathered->ranks;
    std::sort(finding.ranks.begin(), finding.ranks.end());
    finding.affected = call.ranks();
    finding.title = fmt::format("step {}, {} of {} ({}): what {} got {}", call.step, operation(call), call.group_name,
                                ranks_phrase(call.ranks()), ranks_phrase(first.ranks), first.cause);
    finding.details = first.details;
    const std::string line = line_of(subject, call, first.ranks);
    if (!line.empty()) finding.details.push_back("called at " + line);
    if (gathered->calls.size() > 1) {
      finding.details.push_back(fmt::format("in {} captured calls, from step {} to step {}", gathered->calls.size(),
                                            call.step, gathered->calls.back()->step));
    }
    finding.place = {call.group_name, call.ranks(), static_cast<std::int64_t>(call.seq),
                     std::string(reader::name_of(call.op))};
    finding.descent.rank = fmt::format("{}, step {}", ranks_phrase(finding.ranks), call.step);
    finding.descent.component = fmt::format("group {}", call.group_name);
    finding.descent.operation = operation(call);
    finding.descent.line = line;
    finding.next = first.next;
    add_evidence(subject, call, first.tensor, first.cause, first.ranks, finding);
    findings.push_back(std::move(finding));
  }
  return findings;
}

}  // namespace plumbline::checks
