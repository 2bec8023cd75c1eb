#include "checks/wait_graph.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "checks/components.hpp"

namespace plumbline::checks {
namespace {

using reader::Collective;
using reader::Op;
using reader::TraceSummary;

// A thread is in it: it waits for its end, or the process died inside the call.
bool is_waited_for(const Collective& call) {
  return call.in_flight || (call.wait_ns != 0 && call.wait_end_ns < call.wait_ns);
}

struct Choice {
  const Collective* call = nullptr;
  bool sure = false;
};

bool earlier(const Collective& call, const Choice& than) {
  return than.call == nullptr || call.enqueue_ns < than.call->enqueue_ns;
}

// A device works through its calls in their order: what is oldest there holds up the rest.
bool is_ordered(const reader::Trace& trace, const Collective& call) {
  const reader::Group* group = trace.group(call.group);
  return group != nullptr && group->backend.find("ccl") != std::string::npos;
}

// What a rank is blocked in: what a thread waits for or what failed, whichever came first; else the oldest call that
// has not ended. A receive may be posted ahead of its time by the host, so there messages come last.
Choice choose(const reader::Trace& trace, const TraceSummary& summary) {
  Choice waited;
  Choice collective;
  Choice pair;
  for (const reader::GroupLedger& group : summary.ledger.groups) {
    if (group.failed && group.group != 0 && earlier(*group.failed, waited)) waited = {&*group.failed, true};
  }
  for (const Collective& call : summary.pending) {
    if (call.parent != 0 || call.group == 0) continue;
    const bool posted = reader::is_point_to_point(call.op) && !is_ordered(trace, call);
    Choice& kind = is_waited_for(call) ? waited : posted ? pair : collective;
    if (earlier(call, kind)) kind = {&call, is_waited_for(call)};
  }
  if (waited.call != nullptr) return waited;
  return collective.call != nullptr ? collective : pair;
}

// The number of a message among those of its pair. Of an imported dump, which may start anywhere, the number that the
// job's library gave it, the same on both sides.
std::optional<std::uint64_t> message_number(const reader::Trace& trace, const TraceSummary& summary,
                                            const Collective& call) {
  if (is_imported(trace)) return call.seq;
  const reader::PairLedger* pair = summary.ledger.pair(call.group, call.peer, call.tensor_tag, call.op == Op::kSend);
  return pair == nullptr ? std::nullopt : pair->number_of(call.id);
}

const Collective* pending_call(const TraceSummary& summary, std::uint64_t group, std::uint64_t seq) {
  for (const Collective& call : summary.pending) {
    if (call.group == group && call.seq == seq && call.parent == 0 && !reader::is_point_to_point(call.op)) return &call;
  }
  return nullptr;
}

Party party_of(const Subject& subject, const FrontMember& member, std::uint64_t seq) {
  Party party;
  party.rank = member.rank;
  if (!member.has_trace) return party;
  party.trace = member.trace;
  if (!member.called(seq)) {
    party.standing = Standing::kAbsent;
    return party;
  }
  const TraceSummary& summary = subject.summaries()[member.trace];
  const reader::GroupLedger* ledger = summary.ledger.group(member.group);
  party.standing = Standing::kFinished;
  if (member.counts_only && member.completed < static_cast<std::int64_t>(seq)) party.standing = Standing::kWaiting;
  if (const Collective* call = pending_call(summary, member.group, seq)) {
    party.standing = Standing::kWaiting;
    party.call = call;
  } else if (ledger != nullptr && ledger->failed && ledger->failed->seq == seq) {
    party.standing = Standing::kFailed;
    party.call = &*ledger->failed;
  }
  return party;
}

// The other side of a point-to-point call: has it made its call of that number?
Party peer_party(const Subject& subject, const FrontMember& peer, std::int32_t own_local, const Collective& call,
                 std::uint64_t number) {
  Party party;
  party.rank = peer.rank;
  if (!peer.has_trace) return party;
  party.trace = peer.trace;
  party.standing = Standing::kAbsent;
  const TraceSummary& summary = subject.summaries()[peer.trace];
  const bool sends = call.op == Op::kSend;
  const reader::PairLedger* pair = summary.ledger.pair(peer.group, own_local, call.tensor_tag, !sends);
  if (pair == nullptr) return party;
  const reader::Trace& trace = subject.run().traces()[peer.trace];
  const std::uint64_t called = is_imported(trace) ? static_cast<std::uint64_t>(pair->last_seq + 1) : pair->calls.calls;
  if (called <= number) return party;
  party.standing = Standing::kFinished;
  for (const Collective& pending : summary.pending) {
    const bool opposite = pending.group == peer.group && pending.peer == own_local &&
                          reader::is_point_to_point(pending.op) && (pending.op == Op::kSend) != sends &&
                          pending.tensor_tag == call.tensor_tag;
    if (opposite && message_number(trace, summary, pending) == number) {
      party.standing = Standing::kWaiting;
      party.call = &pending;
    }
  }
  return party;
}

}  // namespace

std::vector<const Party*> OpenOp::with(Standing standing) const {
  std::vector<const Party*> chosen;
  for (const Party& party : parties) {
    if (party.standing == standing) chosen.push_back(&party);
  }
  return chosen;
}

const Collective* OpenOp::example() const {
  const Collective* example = nullptr;
  for (const Party& party : parties) {
    if (party.call == nullptr) continue;
    if (party.standing == Standing::kWaiting) return party.call;
    if (example == nullptr) example = party.call;
  }
  return example;
}

// Makes the operations that ranks are blocked in, each once.
class WaitGraph::Builder {
 public:
  Builder(const Subject& subject, const std::vector<GroupFront>& fronts, std::vector<OpenOp>& ops)
      : subject_(subject), fronts_(fronts), ops_(ops) {
    for (std::size_t front = 0; front < fronts.size(); ++front) {
      for (const FrontMember& member : fronts[front].members) {
        if (member.has_trace) front_of_.try_emplace({member.trace, member.group}, front);
      }
    }
  }

  // kNone when the call's group or peer is not known.
  std::size_t op_for(std::size_t trace, const Collective& call) {
    const auto front = front_of_.find({trace, call.group});
    if (front == front_of_.end()) return kNone;
    const std::size_t op = reader::is_point_to_point(call.op) ? pair_op(trace, front->second, call)
                                                              : collective_op(front->second, call.seq);
    if (op == kNone) return kNone;
    const std::int64_t since = subject_.clock().since_start(trace, call.enqueue_ns);
    ops_[op].since_ns = std::min(ops_[op].since_ns, since);
    return op;
  }

 private:
  struct Key {
    std::size_t front = 0;
    std::int32_t from = -1;  // of point-to-point calls
    std::int32_t to = -1;
    std::int32_t tag = 0;
    std::uint64_t seq = 0;

    bool operator<(const Key& other) const {
      return std::tie(front, from, to, tag, seq) < std::tie(other.front, other.from, other.to, other.tag, other.seq);
    }
  };

  std::size_t collective_op(std::size_t front, std::uint64_t seq) {
    const auto [at, fresh] = known_.try_emplace(Key{front, -1, -1, 0, seq}, ops_.size());
    if (!fresh) return at->second;
    OpenOp& op = add(front, seq);
    for (const FrontMember& member : fronts_[front].members) op.parties.push_back(party_of(subject_, member, seq));
    return at->second;
  }

  std::size_t pair_op(std::size_t trace, std::size_t front, const Collective& call) {
    const std::vector<FrontMember>& members = fronts_[front].members;
    const auto number = message_number(subject_.run().traces()[trace], subject_.summaries()[trace], call);
    if (!number || call.peer < 0 || static_cast<std::size_t>(call.peer) >= members.size()) return kNone;
    const auto own = std::find_if(members.begin(), members.end(),
                                  [&](const FrontMember& member) { return member.has_trace && member.trace == trace; });
    if (own == members.end()) return kNone;
    const FrontMember& peer = members[static_cast<std::size_t>(call.peer)];
    const bool sends = call.op == Op::kSend;
    const auto [at, fresh] = known_.try_emplace(
        Key{front, sends ? own->rank : peer.rank, sends ? peer.rank : own->rank, call.tensor_tag, *number},
        ops_.size());
    if (!fresh) return at->second;
    OpenOp& op = add(front, *number);
    op.point_to_point = true;
    Party self;
    self.rank = own->rank;
    self.standing = call.settled() ? Standing::kFailed : Standing::kWaiting;
    self.trace = trace;
    self.call = &call;
    const auto local = static_cast<std::int32_t>(own - members.begin());
    op.parties = {self, peer_party(subject_, peer, local, call, *number)};
    if (!sends) std::swap(op.parties[0], op.parties[1]);
    return at->second;
  }

  OpenOp& add(std::size_t front, std::uint64_t seq) {
    OpenOp& op = ops_.emplace_back();
    op.front = front;
    op.seq = seq;
    op.since_ns = std::numeric_limits<std::int64_t>::max();
    return op;
  }

  const Subject& subject_;
  const std::vector<GroupFront>& fronts_;
  std::vector<OpenOp>& ops_;
  std::map<std::pair<std::size_t, std::uint64_t>, std::size_t> front_of_;  // by trace and its id of the group
  std::map<Key, std::size_t> known_;
};

WaitGraph::WaitGraph(const Subject& subject, Attempt attempt, const std::vector<GroupFront>& fronts) {
  std::set<std::int32_t> ranks;
  for (const GroupFront& front : fronts) {
    for (const FrontMember& member : front.members) ranks.insert(member.rank);
  }
  for (const std::int32_t rank : ranks) nodes_.push_back({rank, kNone, false});
  Builder builder(subject, fronts, ops_);
  const auto& traces = subject.run().traces();
  for (std::size_t trace = 0; trace < traces.size(); ++trace) {
    if (!belongs(traces[trace], attempt)) continue;
    const std::size_t node = node_of(traces[trace].rank());
    if (node == kNone || nodes_[node].op != kNone) continue;
    const Choice choice = choose(traces[trace], subject.summaries()[trace]);
    if (choice.call == nullptr) continue;
    nodes_[node].op = builder.op_for(trace, *choice.call);
    nodes_[node].sure = choice.sure;
  }
  connect();
  while (drop_unsure_waits()) connect();
}

std::size_t WaitGraph::node_of(std::int32_t rank) const {
  const auto at = std::lower_bound(nodes_.begin(), nodes_.end(), rank,
                                   [](const Node& node, std::int32_t other) { return node.rank < other; });
  return at == nodes_.end() || at->rank != rank ? kNone : static_cast<std::size_t>(at - nodes_.begin());
}

const OpenOp* WaitGraph::blocked_in(std::int32_t rank) const {
  const std::size_t node = node_of(rank);
  return node == kNone || nodes_[node].op == kNone ? nullptr : &ops_[nodes_[node].op];
}

void WaitGraph::connect_op(std::size_t op) {
  std::vector<std::size_t>& out = edges_[nodes_.size() + op];
  for (const Party& party : ops_[op].parties) {
    if (party.standing == Standing::kAbsent || party.standing == Standing::kNoTrace) out.push_back(node_of(party.rank));
  }
  if (!out.empty()) return;
  // All have joined: those that are held up elsewhere hold up this one.
  for (const Party& party : ops_[op].parties) {
    const std::size_t node = node_of(party.rank);
    if (party.standing == Standing::kWaiting && nodes_[node].op != op && nodes_[node].op != kNone) out.push_back(node);
  }
}

void WaitGraph::connect() {
  edges_.assign(nodes_.size() + ops_.size(), {});
  for (std::size_t node = 0; node < nodes_.size(); ++node) {
    if (nodes_[node].op != kNone) edges_[node].push_back(nodes_.size() + nodes_[node].op);
  }
  for (std::size_t op = 0; op < ops_.size(); ++op) connect_op(op);
}

// In a circle, ranks that are only taken to wait give way to those that are seen to: a receive that was posted ahead,
// or an asynchronous call, does not hold its rank.
bool WaitGraph::drop_unsure_waits() {
  const Components components = components_of(edges_);
  bool dropped = false;
  for (const std::size_t sink : components.sinks(edges_)) {
    const std::vector<std::size_t>& vertices = components.vertices[sink];
    const auto is_rank = [&](std::size_t vertex) { return vertex < nodes_.size(); };
    if (std::count_if(vertices.begin(), vertices.end(), is_rank) < 2) continue;
    const bool some_sure = std::any_of(vertices.begin(), vertices.end(),
                                       [&](std::size_t vertex) { return is_rank(vertex) && nodes_[vertex].sure; });
    if (!some_sure) continue;
    for (const std::size_t vertex : vertices) {
      if (!is_rank(vertex) || nodes_[vertex].sure) continue;
      nodes_[vertex].op = kNone;
      dropped = true;
    }
  }
  return dropped;
}

std::vector<Root> WaitGraph::roots() const {
  const Components components = components_of(edges_);
  std::vector<std::vector<std::size_t>> back(edges_.size());
  for (std::size_t from = 0; from < edges_.size(); ++from) {
    for (const std::size_t to : edges_[from]) back[to].push_back(from);
  }
  // Of the operations that an absent rank is missed in, the one that was waited in first; collectives before messages,
  // since more ranks can tell of them.
  const auto missed_first = [&](std::size_t node) {
    std::size_t first = kNone;
    for (const std::size_t from : back[node]) {
      const std::size_t op = from - nodes_.size();
      const auto order = [&](std::size_t one) { return std::pair(ops_[one].point_to_point, ops_[one].since_ns); };
      if (first == kNone || order(op) < order(first)) first = op;
    }
    return first;
  };
  std::map<std::size_t, Root> absent;  // by operation
  std::vector<Root> found;
  std::vector<std::vector<std::size_t>> starts;
  for (const std::size_t sink : components.sinks(edges_)) {
    const std::vector<std::size_t>& vertices = components.vertices[sink];
    const std::size_t first = vertices.front();
    if (vertices.size() == 1 && first < nodes_.size()) {
      const std::size_t op = missed_first(first);
      if (op == kNone) continue;  // nobody waits for it
      Root& root = absent[op];
      root.op = op;
      root.ranks.push_back(nodes_[first].rank);
      continue;
    }
    if (vertices.size() == 1 && back[first].empty()) continue;  // nobody is blocked in it
    Root root;
    root.kind = vertices.size() == 1 ? RootKind::kOpen : RootKind::kCircle;
    for (const std::size_t vertex : vertices) {
      if (vertex < nodes_.size()) {
        root.ranks.push_back(nodes_[vertex].rank);
      } else {
        root.ops.push_back(vertex - nodes_.size());
      }
    }
    std::sort(root.ranks.begin(), root.ranks.end());
    std::sort(root.ops.begin(), root.ops.end(),
              [&](std::size_t a, std::size_t b) { return ops_[a].since_ns < ops_[b].since_ns; });
    root.op = root.ops.front();
    found.push_back(std::move(root));
  }
  for (auto& [op, root] : absent) {
    std::sort(root.ranks.begin(), root.ranks.end());
    found.push_back(std::move(root));
  }
  for (Root& root : found) root.affected = affected_by(root, back);
  std::stable_sort(found.begin(), found.end(), [&](const Root& a, const Root& b) {
    if (a.affected.size() != b.affected.size()) return a.affected.size() > b.affected.size();
    return ops_[a.op].since_ns < ops_[b.op].since_ns;
  });
  return found;
}

// All ranks from which the root can be reached, the root's own left out.
std::vector<std::int32_t> WaitGraph::affected_by(const Root& root,
                                                 const std::vector<std::vector<std::size_t>>& back) const {
  std::vector<bool> seen(edges_.size());
  std::vector<std::size_t> todo;
  const auto reach = [&](std::size_t vertex) {
    if (seen[vertex]) return;
    seen[vertex] = true;
    todo.push_back(vertex);
  };
  for (const std::int32_t rank : root.ranks) reach(node_of(rank));
  if (root.kind == RootKind::kOpen) reach(nodes_.size() + root.op);
  while (!todo.empty()) {
    const std::size_t vertex = todo.back();
    todo.pop_back();
    for (const std::size_t before : back[vertex]) reach(before);
  }
  std::vector<std::int32_t> affected;
  for (std::size_t node = 0; node < nodes_.size(); ++node) {
    const bool own = std::binary_search(root.ranks.begin(), root.ranks.end(), nodes_[node].rank);
    if (seen[node] && !own) affected.push_back(nodes_[node].rank);
  }
  return affected;
}

}  // namespace plumbline::checks
