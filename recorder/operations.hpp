// What operations are called, and what they are.
//
// The names are in the order of the enumeration.
#pragma once

#include <array>
#include <string_view>

#include "recorder/event.hpp"

namespace plumbline::recorder {

inline constexpr std::array<std::string_view, static_cast<std::size_t>(Op::kCount_)> kOpNames = {
    "unknown",
    "all_reduce",
    "all_reduce_sparse",
    "all_reduce_coalesced",
    "reduce",
    "broadcast",
    "all_gather",
    "all_gather_base",
    "all_gather_coalesced",
    "all_gather_into_tensor_coalesced",
    "reduce_scatter",
    "reduce_scatter_base",
    "reduce_scatter_tensor_coalesced",
    "all_to_all",
    "all_to_all_base",
    "gather",
    "scatter",
    "send",
    "recv",
    "recv_any_source",
    "barrier",
    "monitored_barrier",
    "group_call",
};

// Whether it makes one tensor of those of all ranks.
constexpr bool is_reduction(Op op) noexcept {
  switch (op) {
    case Op::kAllReduce:
    case Op::kAllReduceCoalesced:
    case Op::kReduce:
    case Op::kReduceScatter:
    case Op::kReduceScatterBase:
    case Op::kReduceScatterTensorCoalesced:
      return true;
    default:
      return false;
  }
}

}  // namespace plumbline::recorder
