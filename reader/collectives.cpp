#include "reader/collectives.hpp"

#include <algorithm>

#include "reader/steps.hpp"

namespace plumbline::reader {
namespace {

// What the record says; what marks have told already stays.
void take_record(const CollectiveBatch& batch, std::size_t i, Collective& c) {
  const std::uint64_t tag = batch.tag[i];
  c.id = batch.id[i];
  c.group = batch.group[i];
  c.seq = batch.seq[i];
  c.op = op_of(tag);
  c.reduce_op = reduce_op_of(tag);
  c.dtype = dtype_of(tag);
  c.layer = layer_of(tag);
  c.count_in = batch.count_in[i];
  c.count_out = batch.count_out[i];
  c.peer = static_cast<std::int32_t>(batch.peer[i]);
  c.tensor_tag = static_cast<std::int32_t>(batch.tensor_tag[i]);
  c.parent = batch.parent[i];
  c.buffer_in = batch.buffer_in[i];
  c.buffer_out = batch.buffer_out[i];
  c.stream = batch.stream[i];
  c.tensors_in = static_cast<std::uint32_t>(batch.tensors_in[i]);
  c.tensors_out = static_cast<std::uint32_t>(batch.tensors_out[i]);
  c.splits_hash = static_cast<std::uint32_t>(batch.splits_hash[i]);
  c.site = batch.site[i];
  c.enqueue_ns = batch.time_ns[i];
  c.ring = batch.ring;
  c.place = batch.place;
}

void apply_mark(Kind kind, std::uint64_t time_ns, Outcome outcome, std::int64_t code, Collective& c) {
  switch (kind) {
    case Kind::kCollectiveStart:
      c.start_ns = time_ns;
      break;
    case Kind::kCollectiveEnd:
      c.end_ns = time_ns;
      c.outcome = outcome;
      if (code != 0) c.code = code;
      break;
    case Kind::kCollectiveReturn:
      c.return_ns = time_ns;
      if (c.outcome == Outcome::kPending) c.outcome = outcome;
      if (code != 0) c.code = code;
      break;
    case Kind::kWait:
      c.wait_ns = time_ns;
      break;
    case Kind::kWaitEnd:
      c.wait_end_ns = time_ns;
      break;
    default:
      break;
  }
}

}  // namespace

std::uint64_t Collective::last_seen_ns() const {
  return std::max({enqueue_ns, start_ns, end_ns, return_ns, wait_ns, wait_end_ns});
}

bool is_point_to_point(Op op) { return op == Op::kSend || op == Op::kRecv || op == Op::kRecvAnySource; }

Collective collective_of(const CollectiveBatch& batch, std::size_t row) {
  Collective call;
  take_record(batch, row, call);
  return call;
}

CollectiveJoin::Open& CollectiveJoin::open(std::uint64_t id) {
  const auto [entry, found] = index_.insert(id);
  if (!found) {
    if (free_slots_.empty()) {
      free_slots_.push_back(static_cast<std::uint32_t>(slots_.size()));
      slots_.emplace_back();
    }
    entry->value = free_slots_.back();
    free_slots_.pop_back();
    slots_[entry->value] = Open{};
  }
  return slots_[entry->value];
}

void CollectiveJoin::add_records(const CollectiveBatch& batch, std::size_t from, std::size_t to) {
  for (std::size_t i = from; i < to; ++i) {
    Open& call = open(batch.id[i]);
    take_record(batch, i, call.collective);
    // An end that was read first has waited for its record.
    if (!call.has_record && call.collective.settled()) settled_now_.push_back(batch.id[i]);
    call.has_record = true;
  }
}

void CollectiveJoin::add_marks(const MarkBatch& batch, std::size_t from, std::size_t to) {
  for (std::size_t i = from; i < to; ++i) {
    Open& call = open(batch.id[i]);
    const auto kind = static_cast<Kind>(batch.kind[i]);
    const bool settles = kind == Kind::kCollectiveEnd || kind == Kind::kCollectiveReturn;
    if (!call.has_record) early_now_.push_back(batch.id[i]);
    if (settles || kind == Kind::kCollectiveStart) ++call.marks;
    apply_mark(kind, batch.time_ns[i], static_cast<Outcome>(batch.outcome[i]), static_cast<std::int64_t>(batch.code[i]),
               call.collective);
    if (settles && call.has_record) settled_now_.push_back(batch.id[i]);
  }
}

void CollectiveJoin::give_settled(const Visit& visit) {
  for (const std::uint64_t id : settled_before_) {
    const auto* const entry = index_.find(id);
    if (entry == nullptr) continue;  // settled twice: returned, and ended
    visit(slots_[entry->value].collective);
    close(id);
  }
  settled_before_.swap(settled_now_);
  settled_now_.clear();
}

void CollectiveJoin::close(std::uint64_t id) {
  auto* const entry = index_.find(id);
  free_slots_.push_back(entry->value);
  index_.erase(entry);
}

// Marks whose record did not come in the frame after theirs either. Waits among them are late ones for calls that were
// given out already.
void CollectiveJoin::drop_orphans() {
  for (const std::uint64_t id : early_before_) {
    const auto* const entry = index_.find(id);
    if (entry == nullptr || slots_[entry->value].has_record) continue;
    orphan_marks_ += slots_[entry->value].marks;
    close(id);
  }
  early_before_.swap(early_now_);
  early_now_.clear();
}

void CollectiveJoin::add_marks_until(const FrameView& frame, std::uint64_t time_ns) {
  for (std::size_t batch = 0; batch < frame.marks.size(); ++batch) {
    const Column times = frame.marks[batch].time_ns;
    std::size_t& from = marks_added_[batch];
    std::size_t to = from;
    while (to < times.size() && times[to] <= time_ns) ++to;
    add_marks(frame.marks[batch], from, to);
    from = to;
  }
}

void CollectiveJoin::add(const FrameView& frame, const Visit& visit) {
  // The batches of the threads lie one after the other. A stretch of calls at a time, with the marks of that time, few
  // calls are open at once, and what is known of them stays in the cache.
  constexpr std::size_t kStretch = 1024;
  marks_added_.assign(frame.marks.size(), 0);
  for (const CollectiveBatch& batch : frame.collectives) {
    for (std::size_t from = 0; from < batch.count; from += kStretch) {
      const std::size_t to = std::min(from + kStretch, batch.count);
      add_records(batch, from, to);
      if (to == batch.count) break;
      add_marks_until(frame, batch.time_ns[to]);
      give_settled(visit);
    }
  }
  add_marks_until(frame, std::numeric_limits<std::uint64_t>::max());
  give_settled(visit);
  drop_orphans();
}

void CollectiveJoin::finish(const std::vector<InFlightCall>& in_flight, const Visit& visit) {
  for (int frame = 0; frame < 2; ++frame) {
    give_settled(visit);
    drop_orphans();
  }
  for (const InFlightCall& call : in_flight) {
    const auto* const entry = index_.find(call.id_or_size);
    if (entry == nullptr || (call.what != Kind::kCollective && call.what != Kind::kWait)) continue;
    Collective& collective = slots_[entry->value].collective;
    collective.in_flight = true;
    if (call.what == Kind::kWait && collective.wait_ns == 0) collective.wait_ns = call.time_ns;
  }
  std::vector<const Collective*> left;
  index_.for_each([&](const auto& entry) { left.push_back(&slots_[entry.value].collective); });
  std::sort(left.begin(), left.end(), [](const Collective* a, const Collective* b) {
    return a->enqueue_ns != b->enqueue_ns ? a->enqueue_ns < b->enqueue_ns : a->id < b->id;
  });
  for (const Collective* collective : left) visit(*collective);
  index_.clear();
  slots_.clear();
  free_slots_.clear();
}

void read_collectives(const Trace& trace, const CollectiveQuery& query,
                      const std::function<bool(const Collective&)>& visit) {
  const StepTimeline* const timeline = query.steps ? &trace.steps() : nullptr;
  CollectiveJoin join;
  bool more = true;
  const auto give = [&](const Collective& collective) {
    if (!more || collective.enqueue_ns < query.from_ns || collective.enqueue_ns > query.to_ns) return;
    if (timeline == nullptr) {
      more = visit(collective);
      return;
    }
    Collective numbered = collective;
    numbered.step = timeline->step_at(collective.enqueue_ns);
    more = visit(numbered);
  };
  trace.read({.kinds = kCollectives | kMarks, .from_ns = query.from_ns}, [&](const FrameView& frame) {
    join.add(frame, give);
    return more;
  });
  join.finish(trace.in_flight(), give);
}

}  // namespace plumbline::reader
