// Calls of gradient clipping: what each was given, and by which factor the gradients of the optimizer's step are
// smaller.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "checks/optimizer_capture.hpp"
#include "checks/optimizer_recompute.hpp"

namespace plumbline::checks {

struct ClipCall {
  int rank = -1;
  const Capture* note = nullptr;
  const CapturedStep* step = nullptr;  // that used what was clipped
  std::size_t index = 0;               // among the calls of the step
  double max_norm = 0;
  double norm_type = 2;
  std::map<std::string, const Capture*> before;  // gradients as clipping was given them, by parameter
};

// Clipping that the job does by hand: no call is seen, but what the gradients were after the last backward(), of which
// a sample may be all there is, and what the step has. `max_norm` is not known (NaN). Of steps that have a call there
// is none.
std::vector<ClipCall> clips_by_hand(const reader::RunCaptures& captures, const std::vector<CapturedStep>& steps,
                                    const std::vector<ClipCall>& calls);

// Of a parameter that several calls of a step were given, only the last call keeps it: what is in between is not known.
std::vector<ClipCall> clip_calls(const reader::RunCaptures& captures, const std::vector<CapturedStep>& steps);

// The number that all elements of `after` are `before` times, to rounding; nothing where there is none.
std::optional<double> factor_between(CaptureLoader& loader, const Capture* before, const Capture* after);

// Of one rank's gradients in a call, all by the same factor.
std::optional<double> clip_factor(CaptureLoader& loader, const ClipCall& call);

// How far a factor may be off: norm, factor and product are rounded in the gradients' dtype.
double clip_tolerance(const ClipCall& call);
// The same for a factor that comes of a norm which the job added up, and nobody else: with the rounding of that sum.
double clip_norm_tolerance(const ClipCall& call);

// (sum of |element|^p)^(1/p) of one gradient; nothing where it was not captured whole.
std::optional<double> norm_of(CaptureLoader& loader, const Capture* grad, double norm_type);
// Norm of several parts, from the parts' norms.
double joined_norm(const std::vector<double>& parts, double norm_type);

}  // namespace plumbline::checks
