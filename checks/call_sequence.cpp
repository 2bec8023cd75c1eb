#include "checks/call_sequence.hpp"

#include <algorithm>

namespace plumbline::checks {
namespace {

using reader::CallTerms;
using reader::Collective;
using reader::CollectiveBatch;

// Visits the rows of the calls in a stretch of time, in the order of their recording.
template <class Visit>
void read_rows(const reader::Trace& trace, const reader::CallBlock& block, const Visit& visit) {
  const reader::Query query{.kinds = reader::kCollectives, .from_ns = block.first_ns, .to_ns = block.last_ns};
  trace.read(query, [&](const reader::FrameView& frame) {
    for (const CollectiveBatch& batch : frame.collectives) {
      for (std::size_t row = 0; row < batch.count; ++row) {
        if (batch.parent[row] == 0 && query.contains(batch.time_ns[row])) visit(batch, row);
      }
    }
    return true;
  });
}

bool same_line(const Collective& a, const Collective& b) { return a.site == 0 || b.site == 0 || a.site == b.site; }

// Are they the same call, as far as can be told?
bool alike(const Collective& a, const Collective& b) {
  return difference_of(a, b) == Difference::kNone && (reader::has_root(a.op) || same_line(a, b));
}

// Does `late` follow `early`, `shift` calls later, for as long as both are known?
bool follows(const CallSequence& early, const CallSequence& late, std::uint64_t number, std::uint64_t shift) {
  constexpr std::uint64_t kAtLeast = 2;
  constexpr std::uint64_t kAtMost = 16;
  std::uint64_t matched = 0;
  for (; matched < kAtMost; ++matched) {
    const auto one = early.find(number + matched + shift);
    const auto other = late.find(number + matched);
    if (one == early.end() || other == late.end()) break;
    if (!alike(one->second, other->second)) return false;
  }
  return matched >= kAtLeast;
}

}  // namespace

CallSequence read_block(const reader::Trace& trace, std::uint64_t group, const reader::CallSeries& series,
                        std::uint64_t index) {
  CallSequence calls;
  const reader::CallBlock* block = series.block(index);
  if (block == nullptr) return calls;
  read_rows(trace, *block, [&](const CollectiveBatch& batch, std::size_t row) {
    const bool wanted = batch.group[row] == group && batch.seq[row] / reader::CallSeries::kBlock == index &&
                        !reader::is_point_to_point(reader::op_of(batch.tag[row]));
    if (wanted) calls.emplace(batch.seq[row], reader::collective_of(batch, row));
  });
  return calls;
}

CallSequence read_block(const reader::Trace& trace, const reader::PairLedger& pair, std::uint64_t index) {
  CallSequence calls;
  const reader::CallBlock* block = pair.calls.block(index);
  if (block == nullptr) return calls;
  std::uint64_t number = index * reader::CallSeries::kBlock;
  const reader::Op op = pair.sends ? reader::Op::kSend : reader::Op::kRecv;
  read_rows(trace, *block, [&](const CollectiveBatch& batch, std::size_t row) {
    const bool wanted = batch.group[row] == pair.group && reader::op_of(batch.tag[row]) == op &&
                        static_cast<std::int32_t>(batch.peer[row]) == pair.peer &&
                        static_cast<std::int32_t>(batch.tensor_tag[row]) == pair.tag;
    if (wanted) calls.emplace(number++, reader::collective_of(batch, row));
  });
  return calls;
}

Collective with_marks(const reader::Trace& trace, const Collective& call) {
  Collective found = call;
  reader::CollectiveQuery query;
  query.from_ns = query.to_ns = call.enqueue_ns;
  query.steps = false;
  reader::read_collectives(trace, query, [&](const Collective& one) {
    if (one.id != call.id) return true;
    found = one;
    return false;
  });
  return found;
}

std::string_view name_of(Difference difference) {
  switch (difference) {
    case Difference::kOp:
      return "operation";
    case Difference::kReduceOp:
      return "reduction";
    case Difference::kDtype:
      return "element type";
    case Difference::kRoot:
      return "root";
    case Difference::kSize:
      return "size";
    case Difference::kLine:
      return "line of the script";
    case Difference::kNone:
      break;
  }
  return "nothing";
}

Difference difference_of(const Collective& a, const Collective& b) {
  CallTerms one = reader::call_terms(a);
  CallTerms other = reader::call_terms(b);
  if (one.op == reader::Op::kRecv) one.op = reader::Op::kSend;
  if (other.op == reader::Op::kRecv) other.op = reader::Op::kSend;
  if (one.op != other.op) return Difference::kOp;
  if (!reader::is_described(one) || !reader::is_described(other)) return Difference::kNone;
  if (one.root != other.root) return Difference::kRoot;
  if (one.reduce_op != other.reduce_op) return Difference::kReduceOp;
  if (one.dtype != other.dtype) return Difference::kDtype;
  // Where one side's split is uneven, the other's may look even and be right.
  const bool free_size = reader::is_all_to_all(one.op) && (a.splits_hash != 0 || b.splits_hash != 0);
  return one.size != other.size && !free_size ? Difference::kSize : Difference::kNone;
}

Habit habit_of(const CallSequence& calls, std::uint64_t number) {
  // A path is told by the two calls that lead to a third.
  constexpr std::uint64_t kLead = 2;
  const auto call = calls.find(number);
  if (number < kLead || call == calls.end()) return Habit::kUnknown;
  for (std::uint64_t earlier = number - 1; earlier >= kLead && calls.contains(earlier - kLead); --earlier) {
    bool same_lead = calls.contains(earlier);
    for (std::uint64_t back = 1; back <= kLead && same_lead; ++back) {
      const auto one = calls.find(earlier - back);
      const auto other = calls.find(number - back);
      same_lead = one != calls.end() && other != calls.end() && alike(one->second, other->second);
    }
    if (same_lead) return alike(calls.at(earlier), call->second) ? Habit::kKept : Habit::kBroken;
  }
  return Habit::kUnknown;
}

namespace {

// Two calls changed places, and nothing else: those between them and the one after them are alike. A loop of two calls
// that is a call ahead or behind looks swapped too, but is not in step again.
bool in_step_around(const CallSequence& others, const CallSequence& own, std::uint64_t number, std::uint64_t shift) {
  for (std::uint64_t at = number + 1; at <= number + shift + 1; ++at) {
    if (at == number + shift) continue;
    const auto one = others.find(at);
    const auto other = own.find(at);
    if (one != others.end() && other != own.end() && !alike(one->second, other->second)) return false;
  }
  return true;
}

}  // namespace

Slip slip_of(const CallSequence& others, const CallSequence& own, std::uint64_t number) {
  constexpr std::uint64_t kFarthest = 4;
  const auto call = [](const CallSequence& calls, std::uint64_t at) -> const Collective* {
    const auto found = calls.find(at);
    return found == calls.end() ? nullptr : &found->second;
  };
  // Ranks that take turns in a role are out of step by their lines alone, which is no fault.
  const Collective* one = call(others, number);
  const Collective* other = call(own, number);
  const bool by_line = one != nullptr && other != nullptr && difference_of(*one, *other) == Difference::kNone;
  for (std::uint64_t shift = 1; shift <= kFarthest; ++shift) {
    const Collective* first = call(others, number);
    const Collective* second = call(others, number + shift);
    const Collective* own_first = call(own, number);
    const Collective* own_second = call(own, number + shift);
    if (first == nullptr || second == nullptr || own_first == nullptr || own_second == nullptr) break;
    if (alike(*first, *own_second) && alike(*second, *own_first) && !alike(*first, *own_first) &&
        (by_line || in_step_around(others, own, number, shift)))
      return Slip::kSwapped;
  }
  // A loop looks shifted by a whole round to itself: who falls in with the others again has not slipped.
  const std::uint64_t last =
      std::min(others.empty() ? 0 : others.rbegin()->first, own.empty() ? 0 : own.rbegin()->first);
  const Collective* their_last = call(others, last);
  const Collective* own_last = call(own, last);
  if (last > number && their_last != nullptr && own_last != nullptr && alike(*their_last, *own_last)) {
    return Slip::kPlain;
  }
  // In a loop of two calls one too many looks like one too few: there the number of calls tells.
  const bool more = own.size() > others.size();
  for (std::uint64_t shift = 1; shift <= kFarthest; ++shift) {
    const bool skipped = follows(others, own, number, shift);
    const bool extra = follows(own, others, number, shift);
    if (skipped && !(extra && more)) return Slip::kSkipped;
    if (extra) return Slip::kExtra;
  }
  return Slip::kPlain;
}

}  // namespace plumbline::checks
