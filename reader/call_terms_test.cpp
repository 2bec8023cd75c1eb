#include "reader/call_terms.hpp"

#include <gtest/gtest.h>

namespace plumbline::reader {
namespace {

Collective call(Op op, std::uint64_t in, std::uint64_t out) {
  Collective one;
  one.op = op;
  one.dtype = Dtype::kFloat32;
  one.reduce_op = ReduceOp::kSum;
  one.count_in = in;
  one.count_out = out;
  return one;
}

bool agree(const Collective& a, const Collective& b) { return call_terms(a) == call_terms(b); }

TEST(CallTermsTest, OperationTypeAndReductionCount) {
  const Collective sum = call(Op::kAllReduce, 10, 10);
  EXPECT_TRUE(agree(sum, sum));
  EXPECT_FALSE(agree(sum, call(Op::kAllGather, 10, 10)));
  Collective half = sum;
  half.dtype = Dtype::kBfloat16;
  EXPECT_FALSE(agree(sum, half));
  Collective most = sum;
  most.reduce_op = ReduceOp::kMax;
  EXPECT_FALSE(agree(sum, most));
}

TEST(CallTermsTest, SizesOfReductionsMustBeEqual) {
  EXPECT_FALSE(agree(call(Op::kAllReduce, 409600, 409600), call(Op::kAllReduce, 409598, 409598)));
}

// A root gives and the others get; that is no difference.
TEST(CallTermsTest, RolesInARootedCallAreNoDifference) {
  EXPECT_TRUE(agree(call(Op::kBroadcast, 10, 0), call(Op::kBroadcast, 0, 10)));
  EXPECT_TRUE(agree(call(Op::kReduce, 10, 10), call(Op::kReduce, 10, 0)));
  EXPECT_TRUE(agree(call(Op::kGather, 5, 20), call(Op::kGather, 5, 0)));
  EXPECT_TRUE(agree(call(Op::kScatter, 20, 5), call(Op::kScatter, 0, 5)));
  EXPECT_FALSE(agree(call(Op::kScatter, 20, 5), call(Op::kScatter, 0, 6)));
}

TEST(CallTermsTest, RootsCountWhereThereIsOne) {
  Collective zero = call(Op::kBroadcast, 10, 10);
  zero.peer = 0;
  Collective one = zero;
  one.peer = 1;
  EXPECT_FALSE(agree(zero, one));
  zero.op = one.op = Op::kAllReduce;
  EXPECT_TRUE(agree(zero, one));
}

TEST(CallTermsTest, UnevenPartsAreLegalTheirWholeIsNot) {
  EXPECT_TRUE(agree(call(Op::kAllGather, 5, 9), call(Op::kAllGather, 4, 9)));
  EXPECT_FALSE(agree(call(Op::kAllGather, 5, 10), call(Op::kAllGather, 4, 8)));
  EXPECT_TRUE(agree(call(Op::kReduceScatter, 9, 5), call(Op::kReduceScatter, 9, 4)));
  EXPECT_FALSE(agree(call(Op::kAllToAllBase, 5, 5), call(Op::kAllToAllBase, 6, 6)));
  Collective uneven = call(Op::kAllToAllBase, 5, 7);
  uneven.splits_hash = 1;
  Collective other = call(Op::kAllToAllBase, 8, 6);
  other.splits_hash = 2;
  EXPECT_TRUE(agree(uneven, other));
}

TEST(CallTermsTest, ABarrierCarriesNothing) {
  EXPECT_TRUE(agree(call(Op::kBarrier, 1, 1), call(Op::kBarrier, 0, 0)));
  EXPECT_TRUE(is_described(call_terms(call(Op::kBarrier, 0, 0))));
  Collective unknown = call(Op::kAllReduce, 0, 0);
  unknown.dtype = Dtype::kUnknown;
  EXPECT_FALSE(is_described(call_terms(unknown)));
}

TEST(CallTermsTest, HashesFollowTheTerms) {
  EXPECT_EQ(hash_of(call_terms(call(Op::kBroadcast, 10, 0))), hash_of(call_terms(call(Op::kBroadcast, 0, 10))));
  EXPECT_NE(hash_of(call_terms(call(Op::kAllReduce, 10, 0))), hash_of(call_terms(call(Op::kAllReduce, 11, 0))));
  // Sums of hashes must tell two swapped calls from two in order.
  const std::uint64_t a = hash_of(call_terms(call(Op::kAllReduce, 10, 10)));
  const std::uint64_t b = hash_of(call_terms(call(Op::kAllReduce, 20, 20)));
  EXPECT_NE(mixed(1, a) + mixed(2, b), mixed(1, b) + mixed(2, a));
}

}  // namespace
}  // namespace plumbline::reader
