// Is one tensor another in a different element type?
#pragma once

#include <optional>

#include "reader/checkpoint/checkpoint.hpp"

namespace plumbline::checks {

// Each value of `reference` cast to the subject's type, as PyTorch casts, is the subject bit for bit. Shapes agree.
bool is_cast_of(const reader::Tensor& subject, const reader::Tensor& reference);
// The subject is bfloat16 and has the reference's high bits, unrounded.
bool is_truncation_of(const reader::Tensor& subject, const reader::Tensor& reference);
// Both have one type; the subject has the reference's values after a cast to a narrower type: that type.
std::optional<reader::DType> rounded_through(const reader::Tensor& subject, const reader::Tensor& reference);

}  // namespace plumbline::checks
