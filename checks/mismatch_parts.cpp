#include "checks/mismatch_parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>

#include "checks/call_sequence.hpp"
#include "checks/call_text.hpp"
#include "checks/last_activity.hpp"
#include "checks/mismatch_words.hpp"
#include "checks/words.hpp"
#include "reader/names.hpp"

namespace plumbline::checks {
namespace {

using reader::CallBlock;
using reader::CallSeries;

// An exchange is read again on all its ranks: beyond that many the sums alone have to do.
constexpr std::size_t kMostExchanged = 256;

const CallSeries* series_of(const Subject& subject, const FrontMember& member) {
  if (!member.has_trace) return nullptr;
  const reader::GroupLedger* ledger = subject.summaries()[member.trace].ledger.group(member.group);
  return ledger == nullptr || ledger->collectives.calls == 0 ? nullptr : &ledger->collectives;
}

std::string component_of(const GroupFront& front) {
  return fmt::format("group {} ({})", front.name, ranks_phrase(front.ranks()));
}

// The block is whole on every rank, and what they gave is not what they got.
bool is_unbalanced(const std::vector<const CallSeries*>& all, std::uint64_t index) {
  std::int64_t sum = 0;
  std::uint32_t calls = 0;
  for (const CallSeries* series : all) {
    const CallBlock* block = series->block(index);
    if (block == nullptr || block->undescribed > 0 || (calls != 0 && block->calls != calls)) return false;
    calls = block->calls;
    sum += block->exchanged;
  }
  return sum != 0;
}

struct Exchange {
  std::uint64_t given = 0;
  std::uint64_t taken = 0;
  std::size_t ranks = 0;
  reader::Collective call;
};

}  // namespace

void add_unbalanced_exchanges(const Subject& subject, Attempt attempt, const GroupFront& front,
                              std::vector<Finding>& findings) {
  if (front.members.size() > kMostExchanged) return;
  std::vector<const CallSeries*> all;
  for (const FrontMember& member : front.members) {
    const CallSeries* series = series_of(subject, member);
    if (series == nullptr) return;
    all.push_back(series);
  }
  const auto& traces = subject.run().traces();
  for (std::uint64_t index = all[0]->first_block; index < all[0]->first_block + all[0]->blocks.size(); ++index) {
    if (!is_unbalanced(all, index)) continue;
    std::map<std::uint64_t, Exchange> exchanges;
    for (std::size_t local = 0; local < all.size(); ++local) {
      const FrontMember& member = front.members[local];
      for (const auto& [number, call] : read_block(traces[member.trace], member.group, *all[local], index)) {
        if (!reader::is_all_to_all(call.op)) continue;
        Exchange& exchange = exchanges[number];
        exchange.given += call.count_in;
        exchange.taken += call.count_out;
        if (++exchange.ranks == 1) exchange.call = call;
      }
    }
    for (const auto& [number, exchange] : exchanges) {
      if (exchange.given == exchange.taken || exchange.ranks != all.size()) continue;
      const Caller caller{front.members[0].rank, front.members[0].trace,
                          with_marks(traces[front.members[0].trace], exchange.call)};
      Finding finding;
      finding.title = fmt::format("{}the parts of {} of {} ({}) do not add up: its ranks give {} elements and take {}",
                                  attempt_prefix(subject.run(), attempt), call_name(exchange.call), front.name,
                                  ranks_phrase(front.ranks()), exchange.given, exchange.taken);
      finding.ranks = front.ranks();
      finding.details.push_back(caller_line(subject, caller));
      finding.evidence.push_back(evidence_of(subject, caller));
      finding.unknown.emplace_back("which rank's split sizes are wrong: only their sums are recorded");
      finding.affected = finding.ranks;
      finding.time_ns = subject.clock().since_start(caller.trace, exchange.call.enqueue_ns);
      finding.place = {front.name, front.ranks(), static_cast<std::int64_t>(number), call_name(exchange.call)};
      finding.descent.component = component_of(front);
      finding.descent.operation = fmt::format("{}: the split sizes differ", call_name(exchange.call));
      finding.descent.line = lines_text(subject, {caller});
      finding.next = "exchange the split sizes first (all_to_all of the counts) and compare them with those used";
      findings.push_back(std::move(finding));
      return;
    }
  }
}

void add_missing_calls(const Subject& subject, Attempt attempt, const GroupFront& front,
                       std::vector<Finding>& findings) {
  std::int64_t least = INT64_MAX;
  std::int64_t most = -1;
  for (const FrontMember& member : front.members) {
    if (!member.has_trace) continue;
    least = std::min(least, member.enqueued);
    most = std::max(most, member.enqueued);
  }
  if (least >= most) return;
  const std::int64_t number = least + 1;
  std::vector<const FrontMember*> behind;
  std::vector<std::int32_t> ahead;
  const FrontMember* example = nullptr;
  for (const FrontMember& member : front.members) {
    if (!member.has_trace) continue;
    if (member.enqueued < number) {
      behind.push_back(&member);
      // It may be on its way, or was ended on it: then those that wait for it are the finding.
      if (subject.ending(member.trace).kind != EndingKind::kClean) return;
    } else {
      if (member.completed < number) return;
      ahead.push_back(member.rank);
      if (example == nullptr) example = &member;
    }
  }
  const auto& traces = subject.run().traces();
  const CallSeries* series = series_of(subject, *example);
  if (series == nullptr) return;
  const CallSequence calls = read_block(traces[example->trace], example->group, *series,
                                        static_cast<std::uint64_t>(number) / CallSeries::kBlock);
  const auto call = calls.find(static_cast<std::uint64_t>(number));
  if (call == calls.end()) return;
  const Caller caller{example->rank, example->trace, with_marks(traces[example->trace], call->second)};
  Finding finding;
  for (const FrontMember* member : behind) finding.ranks.push_back(member->rank);
  finding.title = fmt::format("{}{} never joined {} of {} ({}); {} finished without it",
                              attempt_prefix(subject.run(), attempt), ranks_phrase(finding.ranks),
                              call_name(caller.call), front.name, ranks_phrase(front.ranks()), ranks_phrase(ahead));
  finding.details.push_back(caller_line(subject, caller));
  const FrontMember& first = *behind.front();
  finding.details.push_back(fmt::format("rank {} did last: {}; it {}", first.rank,
                                        last_activity_text(subject, first.trace, last_activity(traces[first.trace], 0)),
                                        subject.ending(first.trace).clause));
  if (most > number) finding.details.push_back(fmt::format("it missed {} calls in all", most - least));
  finding.evidence.push_back(evidence_of(subject, caller));
  for (const FrontMember* member : behind) {
    const auto& dropped = traces[member->trace].dropped();
    const auto kind = static_cast<std::size_t>(recorder::Kind::kCollective);
    if (traces[member->trace].damage().empty() && (dropped.size() <= kind || dropped[kind] == 0)) continue;
    finding.status = Status::kInconclusive;
    finding.unknown.push_back(
        fmt::format("whether rank {} made the call: events of its trace are lost (run-reader verify)", member->rank));
  }
  finding.affected = finding.ranks;
  finding.time_ns = subject.clock().since_start(caller.trace, caller.call.enqueue_ns);
  finding.place = {front.name, front.ranks(), number, call_name(caller.call)};
  finding.descent.rank = finding.details[1];
  finding.descent.component = component_of(front);
  finding.descent.operation = call_text(caller.call);
  finding.descent.line = lines_text(subject, {caller});
  finding.next =
      fmt::format("compare the path that {} takes at that line with the others'", ranks_phrase(finding.ranks));
  findings.push_back(std::move(finding));
}

void add_disputed_groups(const Subject& subject, Attempt attempt, const std::vector<GroupFront>& fronts,
                         std::vector<Finding>& findings) {
  std::map<std::string, std::vector<const GroupFront*>> by_name;
  for (const GroupFront& front : fronts) by_name[front.system_name].push_back(&front);
  const auto knows = [](const GroupFront& front, std::int32_t rank) {
    const FrontMember* member = front.member(rank);
    return member != nullptr && member->group != 0;
  };
  // A member of both that only knows `known`.
  const auto partisan = [&](const GroupFront& known, const GroupFront& other) -> const FrontMember* {
    for (const FrontMember& member : known.members) {
      if (member.group != 0 && other.member(member.rank) != nullptr && !knows(other, member.rank)) return &member;
    }
    return nullptr;
  };
  for (const auto& [name, same] : by_name) {
    if (same.size() < 2 || name.empty()) continue;
    for (std::size_t index = 1; index < same.size(); ++index) {
      const FrontMember* one = partisan(*same[0], *same[index]);
      const FrontMember* other = partisan(*same[index], *same[0]);
      if (one == nullptr || other == nullptr) continue;
      Finding finding;
      finding.title = fmt::format("{}ranks disagree on who is in group {}: {} on rank {}, {} on rank {}",
                                  attempt_prefix(subject.run(), attempt), same[0]->name, ranks_phrase(same[0]->ranks()),
                                  one->rank, ranks_phrase(same[index]->ranks()), other->rank);
      finding.ranks = {one->rank, other->rank};
      finding.affected = same[0]->ranks();
      finding.place = {same[0]->name, same[0]->ranks(), -1, "new_group"};
      finding.descent.component = component_of(*same[0]);
      finding.next = "call new_group with the same list of ranks, and in the same order, on every rank";
      findings.push_back(std::move(finding));
      break;
    }
  }
}

}  // namespace plumbline::checks
