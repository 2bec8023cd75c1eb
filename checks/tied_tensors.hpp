// A tensor that is missing on one side and may be an alias of another: heads that are tied to the embedding.
#pragma once

#include <string>
#include <vector>

#include "reader/checkpoint/checkpoint.hpp"

namespace plumbline::checks {

enum class Missing : std::uint8_t {
  kAlias,     // another tensor of the reference has the same bits, and the subject has that one
  kNotAlias,  // the config says that it is tied, or it is a head; in the reference it differs from the embedding
  kUntied,    // an alias in the reference, but the subject's config.json says that it is not tied
  kDropped,   // none of these
};

struct MissingTensor {
  const reader::Tensor* tensor = nullptr;  // of the reference
  Missing kind = Missing::kDropped;
  const reader::Tensor* twin = nullptr;  // of the reference: what it is, or would be, tied to
};

// Of each of `missing`, which the subject lacks and the reference has.
std::vector<MissingTensor> explain_missing(const reader::Checkpoint& subject, const reader::Checkpoint& reference,
                                           const std::vector<const reader::Tensor*>& missing);

// The tensor among `all` with the same bits as `tensor`; null when there is none.
const reader::Tensor* same_bits(const reader::Tensor& tensor, const std::vector<const reader::Tensor*>& all);

}  // namespace plumbline::checks
