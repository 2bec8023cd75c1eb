#include "checks/schedules.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "checks/optimizer_groups.hpp"
#include "checks/schedule_calls.hpp"

namespace plumbline::checks {
namespace {

Observation observation(const CapturedStep& step, std::string kind, std::string words, const Capture* note) {
  Observation one;
  one.kind = std::move(kind);
  one.rank = step.rank;
  one.step = step.step;
  one.words = std::move(words);
  one.component = component_of(step);
  one.capture = note;
  return one;
}

// How often the schedule was moved between two steps: the same number each time, or 0.
std::size_t moves_a_step(const ScheduledSteps& scheduled) {
  if (scheduled.steps.size() < 3) return 0;
  const std::size_t moves = scheduled.calls.front().size();
  for (std::size_t i = 0; i + 1 < scheduled.steps.size(); ++i) {
    if (scheduled.steps[i]->step + 1 != scheduled.steps[i + 1]->step || scheduled.calls[i].size() != moves) return 0;
  }
  return moves;
}

// A schedule that ends long before the training does.
struct End {
  std::int64_t step = -1;  // the first step that is taken at its end
  double lr = 0;
};

End end_of(const ScheduledSteps& scheduled) {
  double peak = 0;
  End end;
  for (std::size_t i = 0; i + 1 < scheduled.steps.size(); ++i) {
    for (const ScheduleCall& call : scheduled.calls[i]) {
      if (call.lr.empty() || !call.lr.front()) return {};
      const double lr = *call.lr.front();
      peak = std::max({peak, lr, call.before.empty() ? 0 : call.before.front().value_or(0)});
      const bool ended = call.horizon ? call.last_epoch >= *call.horizon : lr == 0;
      if (!ended || lr > 0.5 * peak) {
        end = {};
      } else if (end.step < 0) {
        end = {scheduled.steps[i + 1]->step, lr};
      }
    }
  }
  return end;
}

void examine_moves(const ScheduledSteps& scheduled, Observations& into, std::set<std::string>& remarks) {
  const std::size_t moves = moves_a_step(scheduled);
  if (moves < 2) return;
  const CapturedStep& second = *scheduled.steps[1];
  const ScheduleCall& first = scheduled.calls.front().front();
  const std::int64_t steps = scheduled.steps.back()->step + 1;
  const End end = end_of(scheduled);
  // It was made for as many steps as there were, or training goes on at its end.
  const bool made_for_steps = first.horizon && *first.horizon == static_cast<double>(steps);
  const bool goes_on = end.step >= 0 && steps - end.step >= 2 && 10 * (steps - end.step) >= steps;
  if (!made_for_steps && !goes_on) {
    const double taken = static_cast<double>(steps) * static_cast<double>(moves);
    // One that is as long as all its moves was made for them.
    if (first.horizon && taken > 0.9 * *first.horizon) return;
    remarks.insert(fmt::format(
        "whether {} is meant to move {} steps at each step of the optimizer{}", first.class_name, moves,
        first.horizon ? fmt::format(": it ends at step {:.0f}", std::ceil(*first.horizon / static_cast<double>(moves)))
                      : ""));
    return;
  }
  std::string words = fmt::format("lr moved through {} schedule steps per optimizer step", moves);
  if (end.step >= 0) words += fmt::format("; lr hits {:g} at step {} of {}", end.lr, end.step, steps);
  Observation one = observation(second, "schedule moves", std::move(words), first.note);
  if (first.horizon)
    one.details.push_back(
        fmt::format("{} has {:.0f} steps, and {} optimizer steps were taken", first.class_name, *first.horizon, steps));
  one.details.push_back(fmt::format("backward() was called {} times in a step", scheduled.backward[1]));
  one.next =
      "step the schedule once after each optimizer step, or make it as long as all its steps together; a "
      "wrapper may step it once for each process";
  into.add(std::move(one));
}

// The schedule's groups are the optimizer's and some that are gone: each gets what belongs to the one before it.
void examine_groups(const ScheduledSteps& scheduled, Observations& into) {
  for (std::size_t i = 0; i + 1 < scheduled.steps.size(); ++i) {
    for (const ScheduleCall& call : scheduled.calls[i]) {
      const auto& own = call.initial_lr;
      const auto& base = call.base_lr;
      if (base.size() <= own.size() || std::equal(own.begin(), own.end(), base.begin())) continue;
      std::size_t found = 0;
      for (const auto& one : base) found += found < own.size() && one == own[found] ? 1 : 0;
      if (found < own.size()) continue;
      const auto wrong =
          static_cast<std::size_t>(std::mismatch(own.begin(), own.end(), base.begin()).first - own.begin());
      if (!own[wrong] || !base[wrong] || !call.lr[wrong]) continue;
      const CapturedStep& step = *scheduled.steps[i + 1];
      Observation one = observation(
          step, "schedule groups",
          fmt::format("{} gives group {} the learning rate of another group: {:g}, from {:g}, though its own begins "
                      "with {:g}",
                      call.class_name, wrong, *call.lr[wrong], *base[wrong], *own[wrong]),
          call.note);
      one.details.push_back(
          fmt::format("the schedule was made for {} groups, and the optimizer has {}", base.size(), own.size()));
      if (wrong < step.groups.size() && !step.groups[wrong].params.empty())
        one.tensor = step.groups[wrong].params.front();
      if (!one.tensor.empty()) one.words = "has a learning rate that is not its own: " + one.words;
      one.next = "make the schedule after groups were dropped or added";
      into.add(std::move(one));
      return;
    }
  }
}

const CapturedStep* step_after(const std::vector<CapturedStep>& steps, const ScheduleCall& call) {
  const CapturedStep* next = nullptr;
  for (const CapturedStep& step : steps) {
    if (step.rank != call.rank || step.ordinal != *call.same_parameters || step.note == nullptr) continue;
    if (step.note->time_ns < call.note->time_ns || step.note->file != call.note->file) continue;
    if (next == nullptr || step.step < next->step) next = &step;
  }
  return next;
}

// A schedule of an optimizer that never steps, whose parameters another one has.
void examine_elsewhere(const std::vector<ScheduleCall>& calls, const std::vector<CapturedStep>& steps,
                       Observations& into) {
  for (const ScheduleCall& call : calls) {
    if (!call.same_parameters || call.lr.empty() || call.before.empty()) continue;
    if (!call.lr.front() || !call.before.front() || *call.lr.front() == *call.before.front()) continue;
    const CapturedStep* step = step_after(steps, call);
    if (step == nullptr || step->groups.empty() || step->groups.front().settings.lr == *call.lr.front()) continue;
    Observation one = observation(
        *step, "schedule elsewhere",
        fmt::format(
            "lr stays {:g}, though {} moved it from {:g} to {:g}: the schedule holds another optimizer's groups",
            step->groups.front().settings.lr, call.class_name, *call.before.front(), *call.lr.front()),
        call.note);
    one.details.emplace_back("that optimizer has the same parameters, and never steps");
    one.next = "make the schedule with the optimizer that steps, after it was wrapped or made anew";
    into.add(std::move(one));
  }
}

}  // namespace

void examine_schedules(const Subject& subject, const std::vector<CapturedStep>& steps, Observations& into,
                       std::set<std::string>& remarks) {
  const Schedules schedules = schedules_of(subject.captures(), steps);
  for (const auto& [key, scheduled] : schedules.moved) {
    examine_moves(scheduled, into, remarks);
    examine_groups(scheduled, into);
  }
  examine_elsewhere(schedules.elsewhere, steps, into);
}

}  // namespace plumbline::checks
