#include "reader/call_ledger.hpp"

#include <algorithm>

#include "reader/call_terms.hpp"

namespace plumbline::reader {
namespace {

void count(CallSeries& series, std::uint64_t number, const CollectiveBatch& batch, std::size_t row) {
  ++series.calls;
  CallBlock* const block = series.block_for(number);
  if (block == nullptr) return;
  const auto signed_number = static_cast<std::int64_t>(number);
  if (series.first < 0 || signed_number < series.first) series.first = signed_number;
  series.last = std::max(series.last, signed_number);
  CallTerms terms = call_terms(batch, row);
  // A send and its receive are one message.
  if (terms.op == Op::kRecv) terms.op = Op::kSend;
  CallSeries::Part part{mixed(number, hash_of(terms)), 0};
  // Who calls a rooted operation from where depends on its role.
  if (!has_root(terms.op) && batch.site[row] != 0) part.sites = mixed(number, batch.site[row]);
  block->terms += part.terms;
  block->sites += part.sites;
  if (signed_number + static_cast<std::int64_t>(CallSeries::kRecent) > series.last)
    series.recent[number % CallSeries::kRecent] = part;
  if (is_all_to_all(terms.op))
    block->exchanged += static_cast<std::int64_t>(batch.count_in[row] - batch.count_out[row]);
  ++block->calls;
  if (!is_described(terms)) ++block->undescribed;
  block->first_ns = std::min(block->first_ns, batch.time_ns[row]);
  block->last_ns = std::max(block->last_ns, batch.time_ns[row]);
}

}  // namespace

CallBlock* CallSeries::block_for(std::uint64_t number) {
  const std::uint64_t index = number / kBlock;
  if (blocks.empty()) first_block = index;
  if (index < first_block) {
    // Threads are drained one after the other: a call of one may come after a later call of another.
    if (first_block - index + blocks.size() > kMaxBlocks) return nullptr;
    blocks.insert(blocks.begin(), static_cast<std::size_t>(first_block - index), CallBlock{});
    first_block = index;
  }
  if (index - first_block >= kMaxBlocks) return nullptr;
  if (index - first_block >= blocks.size()) blocks.resize(static_cast<std::size_t>(index - first_block) + 1);
  return &blocks[static_cast<std::size_t>(index - first_block)];
}

const CallBlock* CallSeries::block(std::uint64_t index) const {
  if (index < first_block || index - first_block >= blocks.size()) return nullptr;
  const CallBlock& found = blocks[static_cast<std::size_t>(index - first_block)];
  return found.calls == 0 ? nullptr : &found;
}

std::optional<CallSeries::Part> CallSeries::sums_until(std::uint64_t index, std::int64_t until) const {
  const CallBlock* const own = block(index);
  if (own == nullptr) return std::nullopt;
  Part sums{own->terms, own->sites};
  const std::int64_t end = std::min(last, static_cast<std::int64_t>((index + 1) * kBlock) - 1);
  if (until >= end) return sums;
  // The numbers to take out again must all be among the latest.
  if (until + static_cast<std::int64_t>(kRecent) < last) return std::nullopt;
  for (std::int64_t number = until + 1; number <= end; ++number) {
    const Part& part = recent[static_cast<std::uint64_t>(number) % kRecent];
    sums.terms -= part.terms;
    sums.sites -= part.sites;
  }
  return sums;
}

std::optional<std::uint64_t> PairLedger::number_of(std::uint64_t id) const {
  const std::uint64_t kept = std::min<std::uint64_t>(calls.calls, recent.size());
  for (std::uint64_t back = 1; back <= kept; ++back) {
    const std::uint64_t number = calls.calls - back;
    if (recent[number % recent.size()] == id) return number;
  }
  return std::nullopt;
}

const GroupLedger* CallLedger::group(std::uint64_t id) const {
  const auto at = std::find_if(groups.begin(), groups.end(), [&](const GroupLedger& one) { return one.group == id; });
  return at == groups.end() ? nullptr : &*at;
}

const PairLedger* CallLedger::pair(std::uint64_t group, std::int32_t peer, std::int32_t tag, bool sends) const {
  for (const PairLedger& one : pairs)
    if (one.group == group && one.peer == peer && one.tag == tag && one.sends == sends) return &one;
  return nullptr;
}

GroupLedger& LedgerKeeper::group(std::uint64_t id) {
  if (last_group_ < ledger_.groups.size() && ledger_.groups[last_group_].group == id)
    return ledger_.groups[last_group_];
  const auto [at, fresh] = group_index_.try_emplace(id, ledger_.groups.size());
  if (fresh) ledger_.groups.emplace_back().group = id;
  last_group_ = at->second;
  return ledger_.groups[last_group_];
}

PairLedger* LedgerKeeper::pair(const CollectiveBatch& batch, std::size_t row) {
  const auto peer = static_cast<std::int32_t>(batch.peer[row]);
  const auto tag = static_cast<std::int32_t>(batch.tensor_tag[row]);
  const bool sends = op_of(batch.tag[row]) == Op::kSend;
  const auto [at, fresh] = pair_index_.try_emplace({batch.group[row], peer, tag, sends}, ledger_.pairs.size());
  if (fresh) {
    if (ledger_.pairs.size() >= CallLedger::kMaxPairs) {
      pair_index_.erase(at);
      ++ledger_.beyond_pairs;
      return nullptr;
    }
    PairLedger& made = ledger_.pairs.emplace_back();
    made.group = batch.group[row];
    made.peer = peer;
    made.tag = tag;
    made.sends = sends;
  }
  return &ledger_.pairs[at->second];
}

void LedgerKeeper::add_call(const CollectiveBatch& batch, std::size_t row) {
  const Op op = op_of(batch.tag[row]);
  if (const std::uint64_t site = batch.site[row]; site != 0 && ledger_.sites.size() < CallLedger::kMaxSites) {
    if (site != last_site_ || last_site_calls_ == nullptr) last_site_calls_ = &ledger_.sites[last_site_ = site];
    ++*last_site_calls_;
  }
  if (!is_point_to_point(op)) return count(group(batch.group[row]).collectives, batch.seq[row], batch, row);
  if (op == Op::kRecvAnySource) return;
  PairLedger* const own = pair(batch, row);
  if (own == nullptr) return;
  const std::uint64_t number = own->calls.calls;
  own->last_seq = std::max(own->last_seq, static_cast<std::int64_t>(batch.seq[row]));
  own->recent[number % own->recent.size()] = batch.id[row];
  count(own->calls, number, batch, row);
}

void LedgerKeeper::add(const FrameView& frame) {
  for (const CollectiveBatch& batch : frame.collectives) {
    for (std::size_t row = 0; row < batch.count; ++row)
      if (batch.parent[row] == 0) add_call(batch, row);
  }
}

void LedgerKeeper::settle(const Collective& call) {
  if (call.parent != 0 || is_point_to_point(call.op)) return;
  GroupLedger& own = group(call.group);
  const auto number = static_cast<std::int64_t>(call.seq);
  const bool error = call.outcome == Outcome::kFailed || call.outcome == Outcome::kRaised;
  if (call.start_ns != 0 || call.end_ns != 0) own.started = std::max(own.started, number);
  if (call.settled() && !error) own.completed = std::max(own.completed, number);
  if (error && (!own.failed || call.seq < own.failed->seq)) own.failed = call;
}

}  // namespace plumbline::reader
