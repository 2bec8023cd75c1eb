// One captured call of a fused head, which projects hidden states onto the classes and takes the cross-entropy without
// ever having all logits: they are made again here, row by row, from what went in.
#pragma once

#include <optional>
#include <string>

#include "checks/cross_entropy.hpp"

namespace plumbline::checks {

// `hidden` is the capture `head.hidden`. The sum of the call is what the function itself gave, once that was found to
// be right to rounding: of narrow logits the bound is far wider than what tells one denominator from another. Nothing
// where something was not captured whole, or is more than a cross-entropy of one label a row; `why` then says so.
std::optional<LossCall> recompute_head(CaptureLoader& loader, const reader::RunCaptures& captures,
                                       const Capture& hidden, std::string& why);

}  // namespace plumbline::checks
