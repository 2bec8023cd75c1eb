#include "checks/schedule_calls.hpp"

#include <cmath>
#include <utility>

#include "checks/detail.hpp"

namespace plumbline::checks {
namespace {

std::optional<std::int64_t> whole(const Detail& detail, std::string_view key) {
  const auto number = detail.number(key);
  return number ? std::optional(static_cast<std::int64_t>(*number)) : std::nullopt;
}

ScheduleCall call_of(const Capture& note) {
  const Detail detail(note.detail);
  ScheduleCall call;
  call.note = &note;
  call.rank = note.rank;
  call.class_name = detail.text("class");
  call.schedule = whole(detail, "schedule").value_or(0);
  call.optimizer = whole(detail, "optimizer");
  call.same_parameters = whole(detail, "same_parameters");
  call.last_epoch = detail.number("last_epoch").value_or(std::nan(""));
  call.horizon = detail.number("horizon");
  call.before = detail.numbers("before");
  call.lr = detail.numbers("lr");
  call.initial_lr = detail.numbers("initial_lr");
  call.base_lr = detail.numbers("base_lr");
  return call;
}

struct OptimizerSteps {
  std::vector<const CapturedStep*> steps;
  std::vector<std::size_t> backward;
  std::vector<std::vector<ScheduleCall>> calls;  // of all schedules
};

}  // namespace

Schedules schedules_of(const reader::RunCaptures& captures, const std::vector<CapturedStep>& steps) {
  std::map<const Capture*, const CapturedStep*> by_note;
  for (const CapturedStep& step : steps) by_note[step.note] = &step;
  Schedules result;
  for (const reader::CaptureFile& file : captures.files()) {
    std::map<std::int64_t, OptimizerSteps> optimizers;
    std::size_t backward = 0;
    for (const Capture& capture : file.captures()) {
      backward += capture.probe == "backward.loss" ? 1 : 0;
      if (capture.probe == "optimizer.step") {
        const auto at = by_note.find(&capture);
        if (at == by_note.end()) continue;
        OptimizerSteps& optimizer = optimizers[at->second->ordinal];
        optimizer.steps.push_back(at->second);
        optimizer.backward.push_back(std::exchange(backward, 0));
        optimizer.calls.emplace_back();
      } else if (capture.probe == "schedule") {
        ScheduleCall call = call_of(capture);
        if (!call.optimizer) {
          result.elsewhere.push_back(std::move(call));
        } else if (OptimizerSteps& optimizer = optimizers[*call.optimizer]; !optimizer.steps.empty()) {
          optimizer.calls.back().push_back(std::move(call));
        }
      }
    }
    for (const auto& [ordinal, optimizer] : optimizers) {
      for (std::size_t i = 0; i < optimizer.steps.size(); ++i) {
        for (const ScheduleCall& call : optimizer.calls[i]) {
          ScheduledSteps& mine = result.moved[{call.rank, ordinal, call.schedule}];
          if (mine.steps.empty()) {
            mine.steps = optimizer.steps;
            mine.backward = optimizer.backward;
            mine.calls.resize(optimizer.steps.size());
          }
          mine.calls[i].push_back(call);
        }
      }
    }
  }
  return result;
}

}  // namespace plumbline::checks
