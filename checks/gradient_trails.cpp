#include "checks/gradient_trails.hpp"

#include <algorithm>

namespace plumbline::checks {
namespace {

// Of one process.
class Follower {
 public:
  Follower(const std::map<const Capture*, const CapturedStep*>& steps, std::vector<StepTrails>& into)
      : steps_(steps), into_(into) {}

  void take(const Capture& capture) {
    if (capture.probe == "grad.kept") {
      open_[capture.name].kept = &capture;
    } else if (capture.probe == "grad.backward") {
      GradientTrail& trail = open_[capture.name];
      if (trail.backward != nullptr) trail.earlier.push_back(trail.backward);
      trail.backward = &capture;
    } else if (capture.probe == "grad.before_clip") {
      GradientTrail& trail = open_[capture.name];
      // Of several calls the first one was given what the reduction left.
      if (trail.unclipped == nullptr) trail.unclipped = &capture;
    } else if (capture.probe == "optimizer.step") {
      if (const auto at = steps_.find(&capture); at != steps_.end()) settle(*at->second);
    }
  }

 private:
  // What belongs to other optimizers waits for their steps.
  void settle(const CapturedStep& step) {
    StepTrails trails;
    trails.step = &step;
    const bool follows = last_ != nullptr && last_->ordinal == step.ordinal && last_->step + 1 == step.step;
    trails.previous = follows ? last_ : nullptr;
    last_ = &step;
    for (const CapturedParameter& parameter : step.parameters) {
      const auto at = open_.find(parameter.name);
      if (at == open_.end()) continue;
      GradientTrail trail = at->second;
      trail.used = parameter.grad;
      trails.parameters.emplace(parameter.name, trail);
      open_.erase(at);
    }
    into_.push_back(std::move(trails));
  }

  const std::map<const Capture*, const CapturedStep*>& steps_;
  std::vector<StepTrails>& into_;
  std::map<std::string, GradientTrail> open_;
  const CapturedStep* last_ = nullptr;
};

}  // namespace

std::vector<StepTrails> gradient_trails(const reader::RunCaptures& captures, const std::vector<CapturedStep>& steps) {
  std::map<const Capture*, const CapturedStep*> by_note;
  for (const CapturedStep& step : steps) by_note[step.note] = &step;
  std::vector<StepTrails> trails;
  for (const reader::CaptureFile& file : captures.files()) {
    Follower follower(by_note, trails);
    for (const Capture& capture : file.captures()) follower.take(capture);
  }
  return trails;
}

std::vector<double> values_in_places_of(CaptureLoader& loader, const Capture* capture, const Capture& places) {
  if (capture == nullptr || capture->shape != places.shape) return {};
  std::vector<double> values = loader.values(capture);
  if (capture->indices == places.indices && values.size() == places.captured()) return values;
  // Only of a whole one any place is known.
  if (!capture->indices.empty() || values.size() != capture->elements()) return {};
  std::vector<double> chosen;
  chosen.reserve(places.indices.size());
  for (const std::uint64_t index : places.indices) {
    if (index >= values.size()) return {};
    chosen.push_back(values[index]);
  }
  return chosen;
}

}  // namespace plumbline::checks
