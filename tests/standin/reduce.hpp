// The arithmetic of the stand-in: what NCCL's reductions mean, element by element, in rank order.
#pragma once

#include <nccl.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace plumbline::standin {

std::size_t size_of(ncclDataType_t datatype);  // 0: no data type

// What a reduction does with the elements: a built-in operator, or a sum after multiplying by a factor of the operator.
struct Reduction {
  ncclRedOp_t op = ncclSum;
  bool scaled = false;
  std::uint64_t factor_bits = 0;  // an element of the data type
};

// Multiplies this rank's input in place, for a scaled sum.
void scale(std::byte* values, std::size_t count, ncclDataType_t datatype, const Reduction& reduction);

// result[i] = op over all ranks of inputs[rank][i]. Floating-point types are summed in float (double in double) and
// rounded once.
void reduce(const std::vector<const std::byte*>& inputs, std::byte* result, std::size_t count, ncclDataType_t datatype,
            const Reduction& reduction);

}  // namespace plumbline::standin
