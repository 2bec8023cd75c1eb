// What the ranks of a group must agree in for their calls to be one collective, operation by operation.
//
// Sizes are compared only where the operation asks for equal ones: the parts of an uneven all-to-all, gather or
// all-gather may differ from rank to rank, their whole may not. A root's buffers differ from those of the others by
// design, so the size of a rooted call is that of the one buffer that every rank has.
//
//   if (call_terms(a) != call_terms(b)) differs(…);
#pragma once

#include <cstdint>

#include "reader/collectives.hpp"

namespace plumbline::reader {

struct CallTerms {
  Op op = Op::kUnknown;
  ReduceOp reduce_op = ReduceOp::kNone;
  Dtype dtype = Dtype::kUnknown;
  std::int32_t root = -1;  // group-local, of rooted operations
  std::uint64_t size = 0;  // elements; 0 where sizes are free to differ, or not known

  bool operator==(const CallTerms&) const = default;
};

CallTerms call_terms(const Collective& call);
// The same of a row that was not joined yet.
CallTerms call_terms(const CollectiveBatch& batch, std::size_t row);

bool has_root(Op op);
bool carries_data(Op op);  // not a barrier
bool is_all_to_all(Op op);
// Was it recorded what the call carries? Without the adapter only that it was made is.
bool is_described(const CallTerms& terms);

// Equal terms have equal hashes.
std::uint64_t hash_of(const CallTerms& terms);
// A good mix of two numbers, for sums of hashes that do not depend on the order.
std::uint64_t mixed(std::uint64_t a, std::uint64_t b);

}  // namespace plumbline::reader
