#include "checks/tied_tensors.hpp"

#include <set>

#include "checks/tensor_names.hpp"
#include "checks/tensor_relation.hpp"

namespace plumbline::checks {
namespace {

using reader::Checkpoint;
using reader::Tensor;
using Tensors = std::vector<const Tensor*>;

bool is_head(std::string_view name) {
  return name.ends_with("lm_head.weight") || name.ends_with("output.weight") || name.ends_with("output_layer.weight") ||
         name.ends_with("embed_out.weight");
}

bool is_embedding(std::string_view name) {
  return name.ends_with("embed_tokens.weight") || name.ends_with("wte.weight") ||
         name.ends_with("word_embeddings.weight") || name.ends_with("tok_embeddings.weight") ||
         name.ends_with("embed_in.weight") || name.ends_with("embedding.weight") || name.ends_with("embed.weight");
}

const Tensor* embedding_of(const Tensor& head, const Tensors& all) {
  for (const Tensor* one : all) {
    if (is_embedding(one->name) && one->shape == head.shape) return one;
  }
  return nullptr;
}

}  // namespace

const Tensor* same_bits(const Tensor& tensor, const Tensors& all) {
  if (!tensor.indices.empty()) return nullptr;
  for (const Tensor* one : all) {
    if (one == &tensor || one->dtype != tensor.dtype || one->shape != tensor.shape || tensor.bytes.empty()) continue;
    if (tensor.storage != 0 && tensor.storage == one->storage && one->bytes.data() == tensor.bytes.data()) return one;
    if (equal_bits(tensor, *one)) return one;
  }
  return nullptr;
}

std::vector<MissingTensor> explain_missing(const Checkpoint& subject, const Checkpoint& reference,
                                           const Tensors& missing) {
  // More than a few are no heads: then it is told that they are missing, and no twin is looked for.
  constexpr std::size_t kMostTied = 64;
  const std::set<const Tensor*> absent(missing.begin(), missing.end());
  Tensors present;
  for (const Tensor* one : parameters_of(reference)) {
    if (absent.count(one) == 0 && missing.size() <= kMostTied) present.push_back(one);
  }
  const reader::Scalar* tie = subject.value("config.tie_word_embeddings");
  if (tie == nullptr) tie = reference.value("config.tie_word_embeddings");
  std::vector<MissingTensor> result;
  for (const Tensor* tensor : missing) {
    MissingTensor one{tensor, Missing::kDropped, nullptr};
    // Vectors of ones are alike everywhere; what is tied are matrices.
    const bool matrix = tensor->shape.size() >= 2;
    if (const Tensor* twin = matrix ? same_bits(*tensor, present) : nullptr; twin != nullptr) {
      const bool untied = tie != nullptr && *tie == reader::Scalar(false);
      one = {tensor, untied ? Missing::kUntied : Missing::kAlias, twin};
    } else if (is_head(tensor->name)) {
      one.twin = embedding_of(*tensor, present);
      if (one.twin != nullptr) one.kind = Missing::kNotAlias;
    }
    result.push_back(one);
  }
  return result;
}

}  // namespace plumbline::checks
