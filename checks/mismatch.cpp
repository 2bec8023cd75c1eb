#include "checks/mismatch.hpp"

#include <algorithm>
#include <cstdint>

#include "checks/call_classes.hpp"
#include "checks/group_fronts.hpp"
#include "checks/mismatch_parts.hpp"
#include "checks/mismatch_words.hpp"
#include "checks/words.hpp"

namespace plumbline::checks {
namespace {

std::size_t seen_members(const GroupFront& front) {
  return static_cast<std::size_t>(std::count_if(front.members.begin(), front.members.end(),
                                                [](const FrontMember& member) { return member.has_trace; }));
}

struct Looked {
  std::uint64_t compared = 0;
  bool gave_up = false;
  bool undescribed = false;
};

// Sizes and types are not known where the adapter did not load.
bool is_undescribed(const Subject& subject, const GroupFront& front) {
  return std::any_of(front.members.begin(), front.members.end(), [&](const FrontMember& member) {
    if (!member.has_trace) return false;
    const reader::GroupLedger* ledger = subject.summaries()[member.trace].ledger.group(member.group);
    return ledger != nullptr && std::any_of(ledger->collectives.blocks.begin(), ledger->collectives.blocks.end(),
                                            [](const reader::CallBlock& block) { return block.undescribed > 0; });
  });
}

std::uint64_t messages_of(const Subject& subject, const GroupFront& front) {
  std::uint64_t messages = 0;
  for (const FrontMember& member : front.members) {
    if (!member.has_trace || member.group == 0) continue;
    for (const reader::PairLedger& pair : subject.summaries()[member.trace].ledger.pairs) {
      if (pair.group == member.group) messages += pair.calls.calls;
    }
  }
  return messages;
}

void examine(const Subject& subject, Attempt attempt, Looked& looked, std::vector<Finding>& findings) {
  const std::vector<GroupFront> fronts = group_fronts(subject, attempt);
  for (const GroupFront& front : fronts) {
    if (seen_members(front) < 2) continue;
    const CallComparison comparison = compare_calls(subject, front);
    looked.compared += comparison.compared + messages_of(subject, front);
    looked.gave_up = looked.gave_up || comparison.gave_up;
    looked.undescribed = looked.undescribed || is_undescribed(subject, front);
    const auto& terms = comparison.terms;
    const auto& lines = comparison.lines;
    // When ranks are out of step, the first sign is the one to look at: what follows differs because of it.
    if (lines && (!terms || lines->seq < terms->seq)) {
      findings.push_back(calls_finding(subject, attempt, front, *lines));
      if (terms) findings.back().status = Status::kFail;
    } else if (terms) {
      findings.push_back(calls_finding(subject, attempt, front, *terms));
    }
    if (!terms && !lines) add_missing_calls(subject, attempt, front, findings);
    add_message_mismatches(subject, attempt, front, findings);
    if (!terms) add_unbalanced_exchanges(subject, attempt, front, findings);
  }
  add_disputed_groups(subject, attempt, fronts, findings);
}

}  // namespace

Verdict check_mismatch(const Subject& subject) {
  Verdict verdict;
  verdict.check = "mismatch";
  Looked looked;
  for (const Attempt attempt : attempts_of(subject.run())) examine(subject, attempt, looked, verdict.findings);
  std::stable_sort(verdict.findings.begin(), verdict.findings.end(), [](const Finding& a, const Finding& b) {
    if (a.status != b.status) return a.status < b.status;
    return a.time_ns < b.time_ns;
  });
  if (looked.undescribed) {
    verdict.unknown.emplace_back("sizes and types of calls that were recorded without the torch adapter");
  }
  if (looked.gave_up) {
    verdict.unknown.emplace_back(
        "whether ranks called from the lines that they should, where branches by rank differ throughout");
  }
  const bool fails = std::any_of(verdict.findings.begin(), verdict.findings.end(),
                                 [](const Finding& finding) { return finding.status == Status::kFail; });
  if (fails) {
    verdict.status = Status::kFail;
    verdict.reason = "ranks called different things in one collective";
  } else if (!verdict.findings.empty()) {
    verdict.status = Status::kInconclusive;
    verdict.reason = "ranks may be out of step";
  } else if (looked.compared == 0) {
    verdict.reason = "no two ranks of a group were recorded in the same collective";
  } else {
    verdict.status = Status::kPass;
    verdict.reason = "all ranks called the same in every collective that was compared";
  }
  return verdict;
}

}  // namespace plumbline::checks
