#include "shim/torch/reduce_operation.hpp"

#include <ATen/ops/empty.h>
#include <ATen/ops/full.h>
#include <gtest/gtest.h>

#include <limits>

namespace plumbline::shim::adapter {
namespace {

using c10d::makeNCCLPreMulSum;
using recorder::Op;

at::Tensor one_number(double value, at::ScalarType type = at::kFloat) { return at::full({1}, value, type); }

TEST(AdapterReduceOperation, LiesInTheOptionsOfEachCall) {
  Tensors tensors;
  c10d::AllreduceOptions all_reduce;
  c10d::AllreduceCoalescedOptions coalesced;
  c10d::ReduceOptions reduce;
  c10d::ReduceScatterOptions scatter;
  void* first[] = {&tensors, &all_reduce};
  EXPECT_EQ(reduce_operation(Op::kAllReduce, Arguments(first)), &all_reduce.reduceOp);
  EXPECT_EQ(reduce_operation(Op::kAllReduceSparse, Arguments(first)), &all_reduce.reduceOp);
  void* second[] = {&tensors, &coalesced};
  EXPECT_EQ(reduce_operation(Op::kAllReduceCoalesced, Arguments(second)), &coalesced.reduceOp);
  void* third[] = {&tensors, &reduce};
  EXPECT_EQ(reduce_operation(Op::kReduce, Arguments(third)), &reduce.reduceOp);
  void* fourth[] = {&tensors, &tensors, &scatter};
  for (const Op op : {Op::kReduceScatter, Op::kReduceScatterBase, Op::kReduceScatterTensorCoalesced})
    EXPECT_EQ(reduce_operation(op, Arguments(fourth)), &scatter.reduceOp);
}

TEST(AdapterReduceOperation, OfWhatIsOnlyMovedThereIsNone) {
  const Arguments none(nullptr);
  for (const Op op : {Op::kUnknown, Op::kBroadcast, Op::kAllGather, Op::kAllGatherBase, Op::kAllToAll,
                      Op::kAllToAllBase, Op::kGather, Op::kScatter, Op::kSend, Op::kRecv, Op::kBarrier})
    EXPECT_EQ(reduce_operation(op, none), nullptr);
}

TEST(AdapterReduceOperation, FactorOfScaledParts) {
  EXPECT_EQ(factor_of(makeNCCLPreMulSum(0.25)), 0.25);
  EXPECT_EQ(factor_of(makeNCCLPreMulSum(-3.0)), -3.0);
  EXPECT_EQ(factor_of(makeNCCLPreMulSum(0.0)), 0.0);
  EXPECT_EQ(factor_of(makeNCCLPreMulSum(one_number(0.5))), 0.5);
  EXPECT_EQ(factor_of(makeNCCLPreMulSum(at::full({}, 2.0, at::kFloat))), 2.0);
}

TEST(AdapterReduceOperation, OtherOperationsHaveNoFactor) {
  for (const auto op : {c10d::ReduceOp::SUM, c10d::ReduceOp::AVG, c10d::ReduceOp::MAX})
    EXPECT_EQ(factor_of(op), std::nullopt);
  c10d::ReduceOp without_supplement;
  without_supplement.op_ = c10d::ReduceOp::PREMUL_SUM;
  EXPECT_EQ(factor_of(without_supplement), std::nullopt);
}

TEST(AdapterReduceOperation, FactorsThatAreNotAtHandOrNoNumbers) {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  EXPECT_EQ(factor_of(makeNCCLPreMulSum(kInf)), std::nullopt);
  EXPECT_EQ(factor_of(makeNCCLPreMulSum(std::numeric_limits<double>::quiet_NaN())), std::nullopt);
  EXPECT_EQ(factor_of(makeNCCLPreMulSum(one_number(kInf))), std::nullopt);
  EXPECT_EQ(factor_of(makeNCCLPreMulSum(one_number(2, at::kLong))), std::nullopt);
  EXPECT_EQ(factor_of(makeNCCLPreMulSum(at::empty({1}, at::TensorOptions().device(at::kMeta)))), std::nullopt);
}

}  // namespace
}  // namespace plumbline::shim::adapter
