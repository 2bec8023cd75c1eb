// Hashes of whole tensors, as captures have them in place of elements.
//
// kXxh3 is XXH3-64 of the elements row by row. kTorchXor is torch.hash_tensor, mode 0: the exclusive or of all
// elements, each as a double or a whole number of 64 bits; it does not see their order.
#pragma once

#include <cstdint>
#include <optional>

#include "reader/checkpoint/checkpoint.hpp"

namespace plumbline::reader {

// Of the tensor after a cast to `dtype`; nothing when it is not clear what that cast is.
std::optional<std::uint64_t> digest_as(DType dtype, TensorDigest::Kind kind, const Tensor& tensor);

}  // namespace plumbline::reader
