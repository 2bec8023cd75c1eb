#include <fmt/format.h>

#include <algorithm>

#include "checks/call_sequence.hpp"
#include "checks/call_text.hpp"
#include "checks/mismatch_parts.hpp"
#include "checks/mismatch_words.hpp"
#include "checks/words.hpp"

namespace plumbline::checks {
namespace {

using reader::CallSeries;
using reader::PairLedger;

// Of one group, as many as say what is wrong: a pipeline with a wrong shape has it in every pair.
constexpr std::size_t kMost = 4;

struct Side {
  const FrontMember* member = nullptr;
  const PairLedger* pair = nullptr;
};

// The first message that the two sides see differently; nothing when there is none.
std::optional<std::uint64_t> first_difference(const Subject& subject, const Side& sender, const Side& receiver,
                                              CallSequence& sent, CallSequence& received) {
  const CallSeries& sends = sender.pair->calls;
  const CallSeries& receives = receiver.pair->calls;
  const std::int64_t until = std::min(sends.last, receives.last);
  for (std::uint64_t index = 0; static_cast<std::int64_t>(index * CallSeries::kBlock) <= until; ++index) {
    const auto a = sends.sums_until(index, until);
    const auto b = receives.sums_until(index, until);
    if (a && b && a->terms == b->terms) continue;
    sent = read_block(subject.run().traces()[sender.member->trace], *sender.pair, index);
    received = read_block(subject.run().traces()[receiver.member->trace], *receiver.pair, index);
    for (const auto& [number, call] : sent) {
      const auto other = received.find(number);
      if (other != received.end() && difference_of(call, other->second) != Difference::kNone) return number;
    }
  }
  return std::nullopt;
}

Finding finding_of(const Subject& subject, Attempt attempt, const GroupFront& front, const Caller& sender,
                   const Caller& receiver, std::uint64_t number) {
  const Difference difference = difference_of(sender.call, receiver.call);
  Finding finding;
  finding.title = fmt::format("{}message #{} from rank {} to rank {} in {}: sent as {}, received as {}",
                              attempt_prefix(subject.run(), attempt), number, sender.rank, receiver.rank, front.name,
                              carried_text(sender.call), carried_text(receiver.call));
  finding.ranks = {sender.rank, receiver.rank};
  const std::vector<Caller> callers = {sender, receiver};
  for (const Caller& caller : callers) {
    finding.details.push_back(caller_line(subject, caller));
    finding.evidence.push_back(evidence_of(subject, caller));
  }
  if (receiver.call.outcome == reader::Outcome::kCompleted) {
    finding.details.push_back(fmt::format("what rank {} received is not what was sent, and it used it", receiver.rank));
  }
  finding.affected = finding.ranks;
  finding.time_ns = subject.clock().since_start(sender.trace, sender.call.enqueue_ns);
  finding.place = {front.name, front.ranks(), static_cast<std::int64_t>(number),
                   fmt::format("message from rank {} to rank {}", sender.rank, receiver.rank)};
  finding.descent.run = fmt::format("first seen at {}", time_text(reader::RunClock::seconds(finding.time_ns)));
  finding.descent.rank = finding.details.front();
  finding.descent.component = fmt::format("group {} ({})", front.name, ranks_phrase(front.ranks()));
  finding.descent.operation =
      fmt::format("message #{} with tag {}: the {} differs", number, sender.call.tensor_tag, name_of(difference));
  finding.descent.line = lines_text(subject, callers);
  finding.next =
      fmt::format("print shape and dtype on both sides of that message: the {} differs", name_of(difference));
  return finding;
}

}  // namespace

void add_message_mismatches(const Subject& subject, Attempt attempt, const GroupFront& front,
                            std::vector<Finding>& findings) {
  std::size_t found = 0;
  for (std::size_t local = 0; local < front.members.size(); ++local) {
    const FrontMember& member = front.members[local];
    if (!member.has_trace || member.group == 0) continue;
    for (const PairLedger& pair : subject.summaries()[member.trace].ledger.pairs) {
      if (pair.group != member.group || !pair.sends || pair.peer < 0) continue;
      if (static_cast<std::size_t>(pair.peer) >= front.members.size()) continue;
      const FrontMember& peer = front.members[static_cast<std::size_t>(pair.peer)];
      if (!peer.has_trace || peer.group == 0) continue;
      const PairLedger* other =
          subject.summaries()[peer.trace].ledger.pair(peer.group, static_cast<std::int32_t>(local), pair.tag, false);
      if (other == nullptr) continue;
      CallSequence sent;
      CallSequence received;
      const auto number = first_difference(subject, {&member, &pair}, {&peer, other}, sent, received);
      if (!number) continue;
      const auto& traces = subject.run().traces();
      findings.push_back(finding_of(
          subject, attempt, front, {member.rank, member.trace, with_marks(traces[member.trace], sent.at(*number))},
          {peer.rank, peer.trace, with_marks(traces[peer.trace], received.at(*number))}, *number));
      if (++found == kMost) return;
    }
  }
}

}  // namespace plumbline::checks
