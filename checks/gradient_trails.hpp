// A gradient's way to the step that uses it: what was left of the step before, what backward() left, what clipping was
// given, what the step got.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "checks/optimizer_capture.hpp"
#include "checks/optimizer_recompute.hpp"

namespace plumbline::checks {

struct GradientTrail {
  const Capture* kept = nullptr;          // before the first backward()
  const Capture* backward = nullptr;      // after the last one
  std::vector<const Capture*> earlier{};  // after those before it
  const Capture* unclipped = nullptr;     // null: not clipped
  const Capture* used = nullptr;          // by the step

  // As it was when nothing but clipping was still to come.
  const Capture* reduced() const { return unclipped != nullptr ? unclipped : used; }
};

struct StepTrails {
  const CapturedStep* step = nullptr;
  const CapturedStep* previous = nullptr;  // of the same optimizer, where no other one stepped in between
  std::map<std::string, GradientTrail> parameters;
};

std::vector<StepTrails> gradient_trails(const reader::RunCaptures& captures, const std::vector<CapturedStep>& steps);

// A capture's values in the places of another one, which may be a sample; empty where they are not all there.
std::vector<double> values_in_places_of(CaptureLoader& loader, const Capture* capture, const Capture& places);

}  // namespace plumbline::checks
