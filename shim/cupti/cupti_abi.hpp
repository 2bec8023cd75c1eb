// The part of CUPTI's activity interface that is used, declared here so that the preload object builds without the CUDA
// toolkit. cupti_abi_test.cpp compares it with NVIDIA's headers where they are. Records grow at their ends from
// version to version; what stands here has kept its place since CUDA 11.
#pragma once

#include <cstddef>
#include <cstdint>

namespace plumbline::shim::cupti {

inline constexpr int kSuccess = 0;
inline constexpr std::size_t kBufferAlignment = 8;

// CUpti_ActivityKind
inline constexpr std::uint32_t kMemcpy = 1;
inline constexpr std::uint32_t kMemset = 2;
inline constexpr std::uint32_t kConcurrentKernel = 10;
inline constexpr std::uint32_t kMemcpyPeer = 22;  // MEMCPY2
inline constexpr std::uint32_t kExternalCorrelation = 39;

inline constexpr std::uint32_t kCustomCorrelation = 3;  // CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0
inline constexpr std::uint32_t kFlushForced = 1;        // CUPTI_ACTIVITY_FLAG_FLUSH_FORCED

// CUpti_Activity
struct Record {
  std::uint32_t kind;
};

// The beginning of CUpti_ActivityKernel4 and of all later ones.
struct [[gnu::packed, gnu::aligned(8)]] KernelRecord {
  std::uint32_t kind;
  std::uint8_t cache_config;
  std::uint8_t shared_memory_config;
  std::uint16_t registers_per_thread;
  std::uint32_t partitioned_cache_requested;
  std::uint32_t partitioned_cache_executed;
  std::uint64_t start;
  std::uint64_t end;
  std::uint64_t completed;
  std::uint32_t device;
  std::uint32_t context;
  std::uint32_t stream;
  std::int32_t grid[3];
  std::int32_t block[3];
  std::int32_t static_shared_memory;
  std::int32_t dynamic_shared_memory;
  std::uint32_t local_memory_per_thread;
  std::uint32_t local_memory_total;
  std::uint32_t correlation;
  std::int64_t grid_id;
  const char* name;
};

// The beginning of CUpti_ActivityMemcpy* and CUpti_ActivityMemcpyPtoP*, which part after `stream`.
struct [[gnu::packed, gnu::aligned(8)]] CopyRecord {
  std::uint32_t kind;
  std::uint8_t copy_kind;
  std::uint8_t source_kind;
  std::uint8_t destination_kind;
  std::uint8_t flags;
  std::uint64_t bytes;
  std::uint64_t start;
  std::uint64_t end;
  std::uint32_t device;
  std::uint32_t context;
  std::uint32_t stream;
  std::uint32_t correlation_or_source;  // of a copy within a device its correlation
  std::uint32_t peer[3];
  std::uint32_t peer_correlation;
};

// The beginning of CUpti_ActivityMemset*.
struct [[gnu::packed, gnu::aligned(8)]] MemsetRecord {
  std::uint32_t kind;
  std::uint32_t value;
  std::uint64_t bytes;
  std::uint64_t start;
  std::uint64_t end;
  std::uint32_t device;
  std::uint32_t context;
  std::uint32_t stream;
  std::uint32_t correlation;
};

// CUpti_ActivityExternalCorrelation
struct [[gnu::packed, gnu::aligned(8)]] CorrelationRecord {
  std::uint32_t kind;
  std::uint32_t external_kind;
  std::uint64_t external;
  std::uint32_t correlation;
  std::uint32_t reserved;
};

using BufferRequested = void (*)(std::uint8_t** buffer, std::size_t* size, std::size_t* most_records);
using BufferCompleted = void (*)(void* context, std::uint32_t stream, std::uint8_t* buffer, std::size_t size,
                                 std::size_t valid_size);
using Timestamp = std::uint64_t (*)();

}  // namespace plumbline::shim::cupti
