#include "checks/straggler_steps.hpp"

#include <algorithm>
#include <numeric>

namespace plumbline::checks {
namespace {

// Ranks are that far apart at most, in steps, as they wait for each other in every one.
constexpr std::size_t kMaxOpen = 8;
// Lines of the script from which a rank was late: more are not told apart.
constexpr std::size_t kMaxPlaces = 65'536;

bool is_uneven(std::span<const Arrival> arrivals) {
  return std::any_of(arrivals.begin(), arrivals.end(),
                     [&](const Arrival& arrival) { return arrival.elements != arrivals.front().elements; });
}

}  // namespace

StepBook::StepBook(std::size_t traces, std::int64_t first, std::int64_t last, std::int64_t least)
    : traces_(traces), first_(first), last_(last), least_(least), ranks_(traces) {}

void StepBook::add(const Lateness& lateness) {
  if (lateness.step < first_ || lateness.step > last_) return;
  // A step that was closed is not opened again: late-comers go to the oldest that is open.
  const bool closed = !steps_.empty() && lateness.step <= steps_.back().step;
  const std::int64_t step = closed ? steps_.back().step + 1 : lateness.step;
  Open& open = open_[step];
  if (open.lost.empty()) {
    open.lost.resize(traces_);
    open.work.resize(traces_);
    open.worst.resize(traces_);
  }
  if (is_uneven(lateness.arrivals)) {
    open.uneven = true;
    for (const Arrival& arrival : lateness.arrivals) open.work[arrival.trace] += static_cast<double>(arrival.elements);
  }
  if (lateness.lost > 0) {
    const reader::Collective& call = *lateness.call;
    open.lost[lateness.late] += lateness.lost;
    LateCall& worst = open.worst[lateness.late];
    if (lateness.lost > worst.lost) {
      worst = {
          lateness.late,   lateness.group,      call.op,      call.seq, call.site, call.id, call.place.frame_offset,
          lateness.called, lateness.free_since, lateness.lost};
    }
    const auto key = std::make_tuple(lateness.late, lateness.group, call.op, call.site);
    auto place = places_.find(key);
    if (place == places_.end() && places_.size() < kMaxPlaces) {
      place = places_.emplace(key, PlaceLoss{lateness.group, call.op, call.site, 0, 0}).first;
    }
    if (place != places_.end()) {
      place->second.lost += lateness.lost;
      ++place->second.calls;
    }
  }
  while (open_.size() > kMaxOpen) {
    const auto oldest = open_.begin();
    close(oldest->first, oldest->second);
    open_.erase(oldest);
  }
}

void StepBook::finish() {
  for (const auto& [step, open] : open_) close(step, open);
  open_.clear();
}

void StepBook::close(std::int64_t step, const Open& open) {
  LateStep late;
  late.step = step;
  for (std::size_t trace = 0; trace < traces_; ++trace) {
    late.all_lost += open.lost[trace];
    ranks_[trace].lost += open.lost[trace];
    if (open.lost[trace] >= least_) ++ranks_[trace].steps_late;
    if (open.lost[trace] > late.lost) {
      late.late = trace;
      late.lost = open.lost[trace];
      late.worst = open.worst[trace];
    }
  }
  if (open.uneven && traces_ > 1) {
    const auto busiest = std::max_element(open.work.begin(), open.work.end());
    const double all = std::accumulate(open.work.begin(), open.work.end(), 0.0);
    const double others = (all - *busiest) / static_cast<double>(traces_ - 1);
    late.busiest = static_cast<std::size_t>(busiest - open.work.begin());
    late.lost_by_busiest = open.lost[late.busiest];
    if (others > 0) late.excess = *busiest / others - 1;
  }
  steps_.push_back(late);
}

std::vector<StepBook::PlaceLoss> StepBook::places_of(std::size_t trace) const {
  std::vector<PlaceLoss> places;
  for (const auto& [key, place] : places_)
    if (std::get<0>(key) == trace) places.push_back(place);
  std::sort(places.begin(), places.end(), [](const PlaceLoss& a, const PlaceLoss& b) { return a.lost > b.lost; });
  return places;
}

}  // namespace plumbline::checks
