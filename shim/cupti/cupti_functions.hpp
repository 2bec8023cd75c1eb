// The functions of the CUPTI that the job has loaded. It is never loaded by us: a job without it records no kernels.
#pragma once

#include "shim/cupti/cupti_abi.hpp"

namespace plumbline::shim::cupti {

struct CuptiFunctions {
  int (*register_callbacks)(BufferRequested requested, BufferCompleted completed);
  int (*enable)(std::uint32_t kind);
  int (*disable)(std::uint32_t kind);
  int (*flush_all)(std::uint32_t flags);
  int (*next_record)(std::uint8_t* buffer, std::size_t valid_size, Record** record);
  int (*dropped_records)(void* context, std::uint32_t stream, std::size_t* dropped);
  int (*push_correlation)(std::uint32_t kind, std::uint64_t id);
  int (*pop_correlation)(std::uint32_t kind, std::uint64_t* last);
  int (*register_timestamp)(Timestamp timestamp);
  int (*flush_period)(std::uint32_t milliseconds);
};

// Looked up once; null when the process has no CUPTI, or one that lacks a function.
const CuptiFunctions* functions() noexcept;

}  // namespace plumbline::shim::cupti
