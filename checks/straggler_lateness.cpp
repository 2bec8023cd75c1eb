#include "checks/straggler_lateness.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "checks/call_text.hpp"

namespace plumbline::checks {
namespace {

constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();
// Arrivals that are held back for the order, some 10 MiB.
constexpr std::size_t kMaxHeld = std::size_t{1} << 18;
// So many messages between two ranks are no accident of set-up.
constexpr std::uint32_t kPipelineMessages = 4;

Arrival arrival_of(const Subject& subject, const reader::MatchedMember& member, std::size_t place) {
  const reader::Collective& call = member.collective;
  const auto aligned = [&](std::uint64_t time) { return subject.clock().since_start(member.trace, time); };
  Arrival arrival{.trace = member.trace, .member = place, .called = aligned(call.enqueue_ns)};
  arrival.blocked_from = call.wait_ns > call.enqueue_ns ? aligned(call.wait_ns) : arrival.called;
  arrival.end = call.end_ns != 0 ? aligned(call.end_ns) : kNever;
  arrival.elements = call.count_in + call.count_out;
  return arrival;
}

const Arrival& last_of(std::span<const Arrival> arrivals) {
  return *std::max_element(arrivals.begin(), arrivals.end(),
                           [](const Arrival& a, const Arrival& b) { return a.called < b.called; });
}

// When half of the ranks had come: who comes later than that is late, who was there by then lost time.
std::int64_t on_time(std::span<const Arrival> arrivals) {
  std::vector<std::int64_t> times;
  times.reserve(arrivals.size());
  for (const Arrival& arrival : arrivals) times.push_back(arrival.called);
  const auto middle = times.begin() + static_cast<std::ptrdiff_t>((times.size() - 1) / 2);
  std::nth_element(times.begin(), middle, times.end());
  return *middle;
}

}  // namespace

LatenessTracker::LatenessTracker(const Subject& subject, const StepClock& steps, Visit visit)
    : subject_(subject), steps_(steps), visit_(std::move(visit)) {
  const std::size_t traces = subject.run().traces().size();
  account_.resize(traces);
  waited_until_.resize(traces);
  free_since_.resize(traces, -1);
  pipeline_.resize(traces);
  std::iota(pipeline_.begin(), pipeline_.end(), std::size_t{0});
}

std::size_t LatenessTracker::group_of(const reader::MatchedCollective& match) {
  std::string key = match.group_name;
  for (const int rank : {match.members.front().rank, match.members.back().rank}) key += '/' + std::to_string(rank);
  key += '/' + std::to_string(match.members.size());
  const auto [it, fresh] = group_numbers_.try_emplace(key, groups_.size());
  if (fresh) {
    reader::Group named;
    named.name = match.group_name;
    named.description = match.group_description;
    WaitGroup& group = groups_.emplace_back();
    group.name = group_name(named);
    for (const reader::MatchedMember& member : match.members) group.ranks.push_back(member.rank);
    seen_.emplace_back(match.members.size());
  }
  return it->second;
}

void LatenessTracker::add(const reader::MatchedCollective& match) {
  Pending pending;
  pending.message = match.point_to_point;
  const reader::MatchedMember* last = nullptr;
  for (std::size_t place = 0; place < match.members.size(); ++place) {
    const reader::MatchedMember& member = match.members[place];
    if (!member.present) continue;
    // What another layer's call makes inside is that call's.
    if (member.collective.parent != 0) return;
    pending.arrivals.push_back(arrival_of(subject_, member, place));
    if (last == nullptr || pending.arrivals.back().called > pending.last) {
      last = &member;
      pending.last = pending.arrivals.back().called;
    }
  }
  if (last == nullptr || pending.arrivals.size() < 2) return;
  pending.call = last->collective;
  pending.marked_step = last->collective.step;
  pending.group = match.point_to_point ? 0 : group_of(match);
  held_arrivals_ += pending.arrivals.size();
  const std::int64_t at = pending.last;
  held_.emplace(at, std::move(pending));
  while (held_arrivals_ > kMaxHeld) settle_first();
}

void LatenessTracker::finish() {
  while (!held_.empty()) settle_first();
}

void LatenessTracker::settle_first() {
  auto first = held_.extract(held_.begin());
  held_arrivals_ -= first.mapped().arrivals.size();
  settle(first.mapped());
}

std::int64_t LatenessTracker::uncertainty(std::size_t a, std::size_t b) const {
  const reader::HostClock& clock_a = subject_.clock().alignment().clock_of(a);
  const reader::HostClock& clock_b = subject_.clock().alignment().clock_of(b);
  if (&clock_a == &clock_b) return 0;
  constexpr auto kLimit = static_cast<std::uint64_t>(kNever) / 2;
  if (clock_a.uncertainty_ns >= kLimit || clock_b.uncertainty_ns >= kLimit) return kNever;
  return static_cast<std::int64_t>(clock_a.uncertainty_ns + clock_b.uncertainty_ns);
}

std::int64_t LatenessTracker::blocked(const Arrival& arrival, const Arrival& late) {
  const std::int64_t from = std::max(arrival.blocked_from, waited_until_[arrival.trace]);
  const std::int64_t until = std::min(late.called, arrival.end);
  const std::int64_t wait = until - from;
  // Less than the clocks can show is no evidence.
  const std::int64_t least = uncertainty(arrival.trace, late.trace);
  if (wait <= 0 || wait <= least) return 0;
  waited_until_[arrival.trace] = until;
  return wait;
}

double LatenessTracker::accounted(std::size_t group, const Arrival& arrival) const {
  return account_[arrival.trace] - seen_[group][arrival.member];
}

void LatenessTracker::settle(Pending& pending) {
  if (pending.message) return settle_message(pending);
  std::vector<Arrival>& arrivals = pending.arrivals;
  if (pipelines_) keep_last_of_pipelines(arrivals);
  if (arrivals.size() < 2) return;
  const Arrival late = last_of(arrivals);
  const std::int64_t on_time = checks::on_time(arrivals);

  double lost = 0;
  double excused = 0;
  std::size_t waiting = 0;
  bool clear = false;
  for (const Arrival& arrival : arrivals) {
    if (arrival.trace == late.trace) continue;
    clear = clear || uncertainty(arrival.trace, late.trace) != kNever;
    const std::int64_t wait = blocked(arrival, late);
    if (arrival.called <= on_time) {
      lost += static_cast<double>(wait);
      excused += accounted(pending.group, arrival);
      ++waiting;
    }
    account_[arrival.trace] += static_cast<double>(wait);
  }
  ++compared_;
  if (!clear) ++unclear_;
  const auto ranks = static_cast<double>(std::max<std::size_t>(waiting, 1));
  const double inherited = std::max(accounted(pending.group, late) - excused / ranks, 0.0);
  const double own = std::max(lost / ranks - inherited, 0.0);
  account_[late.trace] += own;

  Lateness lateness;
  lateness.late = late.trace;
  lateness.lost = static_cast<std::int64_t>(own);
  lateness.called = late.called;
  lateness.step = steps_.marked && pending.marked_step >= 0 ? pending.marked_step : steps_.step_at(pending.last);
  lateness.free_since = free_since_[late.trace];
  lateness.group = pending.group;
  lateness.call = &pending.call;
  lateness.arrivals = arrivals;
  visit_(lateness);

  for (const Arrival& arrival : arrivals) {
    seen_[pending.group][arrival.member] = account_[arrival.trace];
    free_since_[arrival.trace] =
        std::max(free_since_[arrival.trace], arrival.end == kNever ? late.called : arrival.end);
  }
}

void LatenessTracker::settle_message(const Pending& pending) {
  const Arrival& sender = pending.arrivals[0];
  const Arrival& receiver = pending.arrivals[1];
  const std::int64_t wait = blocked(receiver, sender);
  account_[receiver.trace] += static_cast<double>(wait);
  if (receiver.end != kNever) free_since_[receiver.trace] = std::max(free_since_[receiver.trace], receiver.end);
  auto& count = messages_[std::minmax(sender.trace, receiver.trace)];
  if (++count == kPipelineMessages) join_pipelines(sender.trace, receiver.trace);
}

std::size_t LatenessTracker::pipeline_of(std::size_t trace) {
  while (pipeline_[trace] != trace) trace = pipeline_[trace] = pipeline_[pipeline_[trace]];
  return trace;
}

void LatenessTracker::join_pipelines(std::size_t a, std::size_t b) {
  pipeline_[pipeline_of(a)] = pipeline_of(b);
  pipelines_ = true;
}

void LatenessTracker::keep_last_of_pipelines(std::vector<Arrival>& arrivals) {
  std::unordered_map<std::size_t, std::size_t> kept;  // pipeline → place
  std::size_t count = 0;
  for (const Arrival& arrival : arrivals) {
    const auto [it, fresh] = kept.try_emplace(pipeline_of(arrival.trace), count);
    if (fresh) {
      arrivals[count++] = arrival;
    } else if (arrival.called > arrivals[it->second].called) {
      arrivals[it->second] = arrival;
    }
  }
  arrivals.resize(count);
}

}  // namespace plumbline::checks
