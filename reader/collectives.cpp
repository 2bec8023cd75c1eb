#include "reader/collectives.hpp"

#include <algorithm>

#include "reader/steps.hpp"

namespace plumbline::reader {
namespace {

Collective collective_of(const CollectiveBatch& batch, std::size_t i) {
  Collective c;
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
  c.enqueue_ns = batch.time_ns[i];
  c.ring = batch.ring;
  c.place = batch.place;
  return c;
}

// What the marks have told so far, onto the record that comes after them.
void keep_marks(const Collective& from, Collective& to) {
  to.start_ns = from.start_ns;
  to.end_ns = from.end_ns;
  to.return_ns = from.return_ns;
  to.wait_ns = from.wait_ns;
  to.wait_end_ns = from.wait_end_ns;
  to.outcome = from.outcome;
  to.code = from.code;
}

// A return code other than success, or an outcome that says so, ends a call that was never executed.
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

void CollectiveJoin::add_records(const CollectiveBatch& batch) {
  for (std::size_t i = 0; i < batch.count; ++i) {
    const auto [it, fresh] = open_.try_emplace(batch.id[i]);
    Collective collective = collective_of(batch, i);
    if (!fresh) {
      keep_marks(it->second.collective, collective);
      // An end that came first has waited for its record.
      if (!it->second.has_record && collective.settled()) settled_now_.push_back(collective.id);
    }
    it->second.collective = collective;
    it->second.has_record = true;
  }
}

void CollectiveJoin::add_marks(const MarkBatch& batch) {
  for (std::size_t i = 0; i < batch.count; ++i) {
    Open& open = open_[batch.id[i]];
    const auto kind = static_cast<Kind>(batch.kind[i]);
    ++open.marks;
    apply_mark(kind, batch.time_ns[i], static_cast<Outcome>(batch.outcome[i]), static_cast<std::int64_t>(batch.code[i]),
               open.collective);
    const bool settles = kind == Kind::kCollectiveEnd || kind == Kind::kCollectiveReturn;
    if (settles && open.has_record) settled_now_.push_back(batch.id[i]);
  }
}

void CollectiveJoin::give_settled(const Visit& visit) {
  for (const std::uint64_t id : settled_before_) {
    const auto it = open_.find(id);
    if (it == open_.end()) continue;  // settled twice: returned, and ended
    visit(it->second.collective);
    open_.erase(it);
  }
  settled_before_.swap(settled_now_);
  settled_now_.clear();
}

void CollectiveJoin::add(const FrameView& frame, const Visit& visit) {
  for (const CollectiveBatch& batch : frame.collectives) add_records(batch);
  for (const MarkBatch& batch : frame.marks) add_marks(batch);
  give_settled(visit);
}

void CollectiveJoin::finish(const std::vector<InFlightCall>& in_flight, const Visit& visit) {
  give_settled(visit);
  give_settled(visit);
  for (const InFlightCall& call : in_flight) {
    if (call.what != Kind::kCollective && call.what != Kind::kWait) continue;
    const auto it = open_.find(call.id_or_size);
    if (it == open_.end()) continue;
    it->second.collective.in_flight = true;
    if (call.what == Kind::kWait && it->second.collective.wait_ns == 0) it->second.collective.wait_ns = call.time_ns;
  }
  std::vector<const Collective*> left;
  for (const auto& [id, open] : open_) {
    if (open.has_record)
      left.push_back(&open.collective);
    else
      orphan_marks_ += open.marks;
  }
  std::sort(left.begin(), left.end(), [](const Collective* a, const Collective* b) {
    return a->enqueue_ns != b->enqueue_ns ? a->enqueue_ns < b->enqueue_ns : a->id < b->id;
  });
  for (const Collective* collective : left) visit(*collective);
  open_.clear();
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
