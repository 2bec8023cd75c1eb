#include "reader/match.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <queue>
#include <string>
#include <tuple>
#include <unordered_map>

#include "reader/group_key.hpp"
#include "reader/steps.hpp"

namespace plumbline::reader {
namespace {

constexpr std::size_t kNoGroup = ~std::size_t{0};

// Who sends to whom, with which tag. Of other calls: nobody.
struct Pair {
  std::size_t group = kNoGroup;
  Layer layer = Layer::kC10d;
  int from = -1;
  int to = -1;
  std::int32_t tag = 0;
  auto operator<=>(const Pair&) const = default;
};

// One trace on its way through the matching.
struct Walker {
  std::size_t trace_index = 0;
  const Trace* trace = nullptr;
  std::unique_ptr<FrameCursor> cursor;
  CollectiveJoin join;
  const StepTimeline* timeline = nullptr;
  int rank = -1;
  std::int64_t wall_minus_monotonic = 0;
  std::int64_t read_until = 0;                            // wall clock of the last frame
  std::unordered_map<std::uint64_t, std::size_t> groups;  // this trace's id of a group → the matcher's number
  // Point-to-point calls are counted by sender, receiver and tag, in the order of their records.
  std::map<Pair, std::uint64_t> pair_counts;
  std::unordered_map<std::uint64_t, std::pair<Pair, std::uint64_t>> pairs;  // id → pair and number in it
};

// What the calls of different ranks must agree in to be one collective.
struct Key {
  std::size_t group = 0;
  Layer layer = Layer::kC10d;
  Pair pair;
  std::uint64_t seq = 0;
  auto operator<=>(const Key&) const = default;
};

class Matcher {
 public:
  Matcher(const Run& run, const MatchOptions& options, const std::function<bool(const MatchedCollective&)>& visit)
      : options_(options), visit_(visit) {
    const int attempt = options.attempt >= 0 ? options.attempt : run.last_attempt();
    for (std::size_t i = 0; i < run.traces().size(); ++i) {
      const Trace& trace = run.traces()[i];
      if (trace.launch() != run.launches() - 1 || trace.attempt() != attempt || trace.rank() < 0) continue;
      // A second process of the same rank is a helper of the first.
      if (!trace_of_rank_.try_emplace(trace.rank(), i).second) continue;
      Walker& walker = walkers_.emplace_back();
      walker.trace_index = i;
      walker.trace = &trace;
      walker.rank = trace.rank();
      const ProcessInfo& process = trace.process();
      walker.wall_minus_monotonic = static_cast<std::int64_t>(process.start_realtime_ns - process.start_monotonic_ns);
    }
  }

  void run() {
    for (Walker& walker : walkers_) {
      walker.cursor = std::make_unique<FrameCursor>(*walker.trace, Query{.kinds = kCollectives | kMarks});
      if (options_.steps) walker.timeline = &walker.trace->steps();
    }
    // The trace that was read least far, by wall clock, is read next: so that few calls wait for their counterparts.
    const auto behind = [](const Walker* a, const Walker* b) { return a->read_until > b->read_until; };
    std::priority_queue<Walker*, std::vector<Walker*>, decltype(behind)> queue(behind);
    for (Walker& walker : walkers_) queue.push(&walker);
    while (more_ && !queue.empty()) {
      Walker* const walker = queue.top();
      queue.pop();
      if (advance(*walker)) queue.push(walker);
    }
    for (auto& [order, open] : open_)
      if (more_) more_ = visit_(open.match);
  }

 private:
  struct Open {
    MatchedCollective match;
    Key key;
    std::size_t missing = 0;  // members that have a trace and were not seen yet
  };

  bool advance(Walker& walker) {
    const auto give = [&](const Collective& collective) {
      if (more_) add(walker, collective);
    };
    const FrameView* const frame = walker.cursor->next();
    if (frame == nullptr) {
      walker.join.finish(walker.trace->in_flight(), give);
      return false;
    }
    for (const CollectiveBatch& batch : frame->collectives) {
      number_pairs(walker, batch);
      if (batch.count != 0)
        walker.read_until = std::max(
            walker.read_until, static_cast<std::int64_t>(batch.time_ns[batch.count - 1]) + walker.wall_minus_monotonic);
    }
    walker.join.add(*frame, give);
    return true;
  }

  // The same number for the same group of different ranks.
  std::size_t number_of(Walker& walker, std::uint64_t group_id) {
    const auto [it, fresh] = walker.groups.try_emplace(group_id, kNoGroup);
    if (!fresh) return it->second;
    const Group* const group = walker.trace->group(group_id);
    if (group == nullptr) return kNoGroup;
    it->second = group_numbers_.try_emplace(group_key(*walker.trace, *group), group_numbers_.size()).first->second;
    return it->second;
  }

  void number_pairs(Walker& walker, const CollectiveBatch& batch) {
    for (std::size_t i = 0; i < batch.count; ++i) {
      const Op op = op_of(batch.tag[i]);
      if (!is_point_to_point(op)) continue;
      const Group* const group = walker.trace->group(batch.group[i]);
      Pair pair{number_of(walker, batch.group[i]), layer_of(batch.tag[i]), walker.rank, -1,
                static_cast<std::int32_t>(batch.tensor_tag[i])};
      if (group == nullptr) continue;
      pair.to = group->global_rank(static_cast<std::int32_t>(batch.peer[i]));
      if (pair.to < 0) continue;  // a receive from any source
      if (op != Op::kSend) std::swap(pair.from, pair.to);
      walker.pairs[batch.id[i]] = {pair, walker.pair_counts[pair]++};
    }
  }

  void add(Walker& walker, const Collective& collective) {
    Key key{number_of(walker, collective.group), collective.layer, {}, collective.seq};
    if (key.group == kNoGroup) return;
    if (is_point_to_point(collective.op)) {
      const auto it = walker.pairs.find(collective.id);
      if (it == walker.pairs.end()) return;
      std::tie(key.pair, key.seq) = it->second;
      walker.pairs.erase(it);
    }
    const auto [it, fresh] = order_.try_emplace(key, next_order_);
    if (fresh) begin(next_order_++, key, *walker.trace->group(collective.group));
    place(it->second, walker, collective);
  }

  void begin(std::uint64_t order, const Key& key, const Group& group) {
    Open& open = open_[order];
    open.key = key;
    open.match.group_name = group.name;
    open.match.group_description = group.description;
    open.match.seq = key.seq;
    open.match.layer = key.layer;
    open.match.point_to_point = key.pair.from >= 0;
    const std::vector<int> pair = {key.pair.from, key.pair.to};
    for (const int rank : open.match.point_to_point ? pair : group.ranks) {
      MatchedMember& member = open.match.members.emplace_back();
      member.rank = rank;
      const auto it = trace_of_rank_.find(rank);
      member.has_trace = it != trace_of_rank_.end();
      if (member.has_trace) member.trace = it->second;
      open.missing += member.has_trace ? 1 : 0;
    }
  }

  void place(std::uint64_t order, const Walker& walker, const Collective& collective) {
    const auto it = open_.find(order);
    Open& open = it->second;
    std::vector<MatchedMember>& members = open.match.members;
    const auto member = std::find_if(members.begin(), members.end(), [&](const MatchedMember& m) {
      return m.has_trace && m.trace == walker.trace_index && !m.present;
    });
    if (member == members.end()) return;
    member->present = true;
    member->collective = collective;
    if (walker.timeline != nullptr) member->collective.step = walker.timeline->step_at(collective.enqueue_ns);
    ++held_;
    if (--open.missing == 0) give(it);
    while (held_ > options_.max_open && !open_.empty()) give(open_.begin());
  }

  void give(std::map<std::uint64_t, Open>::iterator it) {
    if (more_) more_ = visit_(it->second.match);
    for (const MatchedMember& member : it->second.match.members) held_ -= member.present ? 1 : 0;
    order_.erase(it->second.key);
    open_.erase(it);
  }

  const MatchOptions& options_;
  const std::function<bool(const MatchedCollective&)>& visit_;
  std::map<int, std::size_t> trace_of_rank_;
  std::vector<Walker> walkers_;
  std::map<std::uint64_t, Open> open_;  // in the order of first sight
  std::map<Key, std::uint64_t> order_;
  std::unordered_map<std::string, std::size_t> group_numbers_;
  std::uint64_t next_order_ = 0;
  std::size_t held_ = 0;
  bool more_ = true;
};

}  // namespace

bool MatchedCollective::complete() const {
  return std::all_of(members.begin(), members.end(),
                     [](const MatchedMember& member) { return member.present || !member.has_trace; });
}

void match_collectives(const Run& run, const MatchOptions& options,
                       const std::function<bool(const MatchedCollective&)>& visit) {
  Matcher(run, options, visit).run();
}

}  // namespace plumbline::reader
