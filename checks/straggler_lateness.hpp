// Who kept the others waiting, at every collective, and for how long: each wait is laid to the rank that it began with.
//
// A rank that comes late because it had itself been kept waiting, in another group, is not late by its own doing: every
// rank has an account of delay that is already accounted for, and only what exceeds the account is new. Likewise two
// calls that wait at the same time are one wait.
//
// Messages between two ranks are never blamed, as the stages of a pipeline wait for each other by design; but what they
// cost goes into the accounts. Of the ranks of one pipeline only the last to come to a collective is compared.
//
//   LatenessTracker tracker(subject, steps, [&](const Lateness& lateness) { … });
//   match_collectives(run, options, [&](const MatchedCollective& match) { tracker.add(match); return true; });
//   tracker.finish();
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "checks/periodicity.hpp"
#include "checks/subject.hpp"
#include "reader/match.hpp"

namespace plumbline::checks {

// One rank at one collective; times in nanoseconds on the run's clock.
struct Arrival {
  std::size_t trace = 0;
  std::size_t member = 0;  // its place in the group
  std::int64_t called = 0;
  std::int64_t blocked_from = 0;  // when it began to wait; as `called` where that was not recorded
  std::int64_t end = 0;           // the largest number: not seen
  std::uint64_t elements = 0;     // what it gave and got
};

struct WaitGroup {
  std::string name;  // for people
  std::vector<std::int32_t> ranks;
};

struct Lateness {
  std::int64_t step = 0;
  std::size_t late = 0;   // trace of the last rank to come
  std::int64_t lost = 0;  // what the ranks that were there on time lost, each, by its doing
  std::int64_t called = 0;
  std::int64_t free_since = 0;  // when that rank had last been through with a collective; -1: it was its first
  std::size_t group = 0;        // in groups()
  const reader::Collective* call = nullptr;  // of that rank
  std::span<const Arrival> arrivals;
};

class LatenessTracker {
 public:
  using Visit = std::function<void(const Lateness&)>;
  LatenessTracker(const Subject& subject, const StepClock& steps, Visit visit);

  void add(const reader::MatchedCollective& match);
  void finish();

  const std::vector<WaitGroup>& groups() const { return groups_; }
  std::uint64_t compared() const { return compared_; }
  // Collectives whose ranks' clocks are known too badly to say who came first.
  std::uint64_t unclear() const { return unclear_; }

 private:
  struct Pending {
    std::int64_t last = 0;
    std::int64_t marked_step = -1;
    std::size_t group = 0;
    bool message = false;
    reader::Collective call;  // of the last to come
    std::vector<Arrival> arrivals;
  };

  std::size_t group_of(const reader::MatchedCollective& match);
  void settle_first();
  void settle(Pending& pending);
  void settle_message(const Pending& pending);
  void join_pipelines(std::size_t a, std::size_t b);
  std::size_t pipeline_of(std::size_t trace);
  void keep_last_of_pipelines(std::vector<Arrival>& arrivals);
  // Of two ranks' clocks against each other.
  std::int64_t uncertainty(std::size_t a, std::size_t b) const;
  std::int64_t blocked(const Arrival& arrival, const Arrival& late);
  // Delay of a rank that was accounted for since its last collective in the group.
  double accounted(std::size_t group, const Arrival& arrival) const;

  const Subject& subject_;
  const StepClock& steps_;
  Visit visit_;
  std::vector<WaitGroup> groups_;
  std::vector<std::vector<double>> seen_;  // by group: members' accounts at their last collective in it
  std::unordered_map<std::string, std::size_t> group_numbers_;
  // Matches come nearly in order; they are held back until they are in order.
  std::multimap<std::int64_t, Pending> held_;
  std::size_t held_arrivals_ = 0;

  std::vector<double> account_;             // by trace: delay accounted for, in nanoseconds
  std::vector<std::int64_t> waited_until_;  // by trace: up to where its waits have been counted
  std::vector<std::int64_t> free_since_;    // by trace
  std::vector<std::size_t> pipeline_;       // by trace: a forest over ranks that send to each other
  std::map<std::pair<std::size_t, std::size_t>, std::uint32_t> messages_;
  bool pipelines_ = false;
  std::uint64_t compared_ = 0;
  std::uint64_t unclear_ = 0;
};

}  // namespace plumbline::checks
