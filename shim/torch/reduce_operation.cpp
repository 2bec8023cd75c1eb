#include "shim/torch/reduce_operation.hpp"

#include <cmath>

namespace plumbline::shim::adapter {

using recorder::Op;

const c10d::ReduceOp* reduce_operation(Op op, const Arguments& arguments) {
  switch (op) {
    case Op::kAllReduce:
    case Op::kAllReduceSparse:
      return &arguments.get<c10d::AllreduceOptions>(1).reduceOp;
    case Op::kAllReduceCoalesced:
      return &arguments.get<c10d::AllreduceCoalescedOptions>(1).reduceOp;
    case Op::kReduce:
      return &arguments.get<c10d::ReduceOptions>(1).reduceOp;
    case Op::kReduceScatter:
    case Op::kReduceScatterBase:
    case Op::kReduceScatterTensorCoalesced:
      return &arguments.get<c10d::ReduceScatterOptions>(2).reduceOp;
    default:
      return nullptr;
  }
}

std::optional<double> factor_of(const c10d::ReduceOp& reduce) {
  if (reduce.op_ != c10d::ReduceOp::PREMUL_SUM || !reduce.supplement_.defined()) return std::nullopt;
  // No other supplement exists, and backends read it as this one.
  const auto& supplement = static_cast<const c10d::NCCLPreMulSumSupplement&>(*reduce.supplement_);
  double factor = supplement.double_factor;
  if (const at::Tensor& tensor = supplement.tensor_factor; tensor.defined()) {
    if (!tensor.is_cpu() || tensor.numel() != 1 || tensor.scalar_type() != at::kFloat) return std::nullopt;
    factor = static_cast<double>(*tensor.const_data_ptr<float>());
  }
  return std::isfinite(factor) ? std::optional(factor) : std::nullopt;
}

}  // namespace plumbline::shim::adapter
