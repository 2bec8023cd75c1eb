// The part of NCCL's binary interface that the hooks read, declared by us: the preload object builds without the CUDA
// toolkit, and one build serves every NCCL 2. nccl_abi_test compares it with the real header where there is one.
//
// Handles and pointers are void*, enums are int (see generate_hooks.py).
#pragma once

#include <cstddef>
#include <cstdint>

#include "recorder/event.hpp"

namespace plumbline::shim::nccl {

struct NcclUniqueId {
  char internal[128];
};

enum Result : int { kSuccess = 0, kSystemError = 2, kInProgress = 7 };

inline constexpr int kBuiltinReduceOps = 5;  // values from here on are made by ncclRedOpCreate…
inline constexpr int kNoColor = -1;          // ncclCommSplit: this rank joins no communicator

// Beginning of ncclConfig_t: `size` says how much of it the caller's NCCL knows.
struct NcclConfig {
  std::size_t size;
  unsigned magic;
  unsigned version;
  int blocking;
  int cga_cluster_size;
  int min_ctas;
  int max_ctas;
  const char* net_name;
  int split_share;
  int traffic_class;
  const char* comm_name;  // since 2.27
};

inline constexpr unsigned kConfigMagic = 0xcafebeef;

// Name that the caller gave to a communicator; null when it gave none or its NCCL has no such field.
inline const char* comm_name(const void* config) noexcept {
  const auto* known = static_cast<const NcclConfig*>(config);
  if (known == nullptr || known->magic != kConfigMagic) return nullptr;
  if (known->version < 22700 || known->size < offsetof(NcclConfig, comm_name) + sizeof(char*)) return nullptr;
  return known->comm_name;
}

constexpr recorder::Dtype dtype_of(int datatype) noexcept {
  using recorder::Dtype;
  constexpr Dtype kTypes[] = {Dtype::kInt8,    Dtype::kUint8,    Dtype::kInt32,      Dtype::kUint32,
                              Dtype::kInt64,   Dtype::kUint64,   Dtype::kFloat16,    Dtype::kFloat32,
                              Dtype::kFloat64, Dtype::kBfloat16, Dtype::kFloat8E4m3, Dtype::kFloat8E5m2};
  return datatype >= 0 && datatype < 12 ? kTypes[datatype] : Dtype::kUnknown;
}

constexpr recorder::ReduceOp reduce_op_of(int op) noexcept {
  using recorder::ReduceOp;
  constexpr ReduceOp kOps[] = {ReduceOp::kSum, ReduceOp::kProd, ReduceOp::kMax, ReduceOp::kMin, ReduceOp::kAvg};
  if (op < 0) return ReduceOp::kNone;
  return op < kBuiltinReduceOps ? kOps[op] : ReduceOp::kPremulSum;
}

}  // namespace plumbline::shim::nccl
