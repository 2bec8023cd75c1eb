// The templates that the generated wrappers call: each finds the real function, forwards to it, and records what the
// call was. A call that NCCL itself makes while it executes another one is forwarded and not recorded.
//
// A wrapper has a frame of its own around the real call and nothing to clean up in it.
#pragma once

#include <type_traits>

#include "recorder/recorder.hpp"
#include "shim/core/activation.hpp"
#include "shim/cupti/device_recording.hpp"
#include "shim/nccl/collective_call.hpp"
#include "shim/nccl/comms.hpp"
#include "shim/nccl/nccl_functions.hpp"
#include "shim/nccl/nccl_thread.hpp"
#include "shim/nccl/pending_births.hpp"

#define PLUMBLINE_EXPORT extern "C" [[gnu::visibility("default")]]

// An address in the code that called the wrapper.
#define PLUMBLINE_SITE __builtin_return_address(0)

namespace plumbline::shim::nccl {

using recorder::CommEvent;
using recorder::Op;

// True when the calls of this thread are to be recorded. `evidence`: the call shows that the process trains.
bool may_record(Function function, const void* site, bool evidence) noexcept;

// The real function, as one that takes the wrapper's own arguments; for frames that only forward.
template <class Result, class... Arguments>
auto real(Function function, const void* site, const Arguments&...) noexcept {
  return reinterpret_cast<Result (*)(Arguments...)>(real_function(function, site));
}

template <class Real, class... Arguments>
auto call_inside(Real real, Arguments... arguments) noexcept {
  ++nccl_thread.inside;
  const auto result = real(arguments...);
  --nccl_thread.inside;
  return result;
}

template <class Result, class... Arguments>
Result forward(Function function, const void* site, Arguments... arguments) noexcept {
  may_record(function, site, false);
  const auto forwarded = real<Result>(function, site, arguments...);
  if constexpr (std::is_same_v<Result, int>) {
    return forwarded == nullptr ? int{kSystemError} : call_inside(forwarded, arguments...);
  } else if constexpr (std::is_same_v<Result, const char*>) {
    return forwarded == nullptr ? "NCCL is not loaded" : call_inside(forwarded, arguments...);
  } else {
    if (forwarded != nullptr) return forwarded(arguments...);
    return Result();
  }
}

template <class... Arguments>
int collective(Function function, const void* site, const NcclCall& call, Arguments... arguments) noexcept {
  const auto forwarded = real<int>(function, site, arguments...);
  if (forwarded == nullptr) return kSystemError;
  if (!may_record(function, site, true)) return forwarded(arguments...);
  const CallTicket ticket = begin_collective(call, __builtin_frame_address(0));
  cupti::begin_launches(ticket.id);
  const int code = call_inside(forwarded, arguments...);
  cupti::end_launches();
  end_collective(ticket, code, __builtin_frame_address(0));
  return code;
}

inline int group_start(Function function, const void* site) noexcept {
  const auto forwarded = real<int>(function, site);
  if (forwarded == nullptr) return kSystemError;
  if (nccl_thread.inside != 0) return forwarded();
  begin_group(may_record(function, site, true), __builtin_frame_address(0));
  const int code = call_inside(forwarded);
  if (code != kSuccess) end_group(code, __builtin_frame_address(0));
  return code;
}

// ncclGroupEnd, and ncclGroupSimulateEnd, which ends the group too.
template <class... Arguments>
int group_end(Function function, const void* site, Arguments... arguments) noexcept {
  const auto forwarded = real<int>(function, site, arguments...);
  if (forwarded == nullptr) return kSystemError;
  if (nccl_thread.inside != 0) return forwarded(arguments...);
  may_record(function, site, false);
  // The calls of a group are launched at its end.
  cupti::begin_launches(nccl_thread.group_call);
  const int code = call_inside(forwarded, arguments...);
  cupti::end_launches();
  if (end_group(code, __builtin_frame_address(0))) settle_births(code);
  return code;
}

// The making of one communicator by a call that writes its handle to `place`.
template <class Real, class... Arguments>
int recorded_birth(const CommBirth& birth, void* const* place, Real forwarded, Arguments... arguments) noexcept {
  begin_birth(birth);
  const int code = call_inside(forwarded, arguments...);
  void* handle = place != nullptr ? *place : nullptr;
  const bool later = handle == nullptr && place != nullptr && (code == kSuccess || code == kInProgress) &&
                     (nccl_thread.group_depth != 0 || code == kInProgress);
  if (!later || !defer_birth(birth, place)) end_birth(birth, handle, code);
  return code;
}

// ncclCommInitRank and, with a configuration, ncclCommInitRankConfig.
template <class... Config>
int comm_init_rank(Function function, const void* site, void* comm, int size, NcclUniqueId id, int rank,
                   Config... config) noexcept {
  const auto forwarded = real<int>(function, site, comm, size, id, rank, config...);
  if (forwarded == nullptr) return kSystemError;
  if (!may_record(function, site, true)) return forwarded(comm, size, id, rank, config...);
  const void* configs[] = {nullptr, config...};
  const CommBirth birth = birth_from_ids(&id, 1, rank, size, configs[sizeof...(config)], __builtin_frame_address(0));
  return recorded_birth(birth, static_cast<void**>(comm), forwarded, comm, size, id, rank, config...);
}

inline int comm_init_scalable(Function function, const void* site, void* comm, int size, int rank, int id_count,
                              void* ids, void* config) noexcept {
  const auto forwarded = real<int>(function, site, comm, size, rank, id_count, ids, config);
  if (forwarded == nullptr) return kSystemError;
  if (!may_record(function, site, true)) return forwarded(comm, size, rank, id_count, ids, config);
  const CommBirth birth =
      birth_from_ids(static_cast<const NcclUniqueId*>(ids), id_count, rank, size, config, __builtin_frame_address(0));
  return recorded_birth(birth, static_cast<void**>(comm), forwarded, comm, size, rank, id_count, ids, config);
}

// One call makes all communicators of a process with several devices.
inline int comm_init_all(Function function, const void* site, void* comms, int size, const void* devices) noexcept {
  const auto forwarded = real<int>(function, site, comms, size, devices);
  if (forwarded == nullptr) return kSystemError;
  if (!may_record(function, site, true)) return forwarded(comms, size, devices);
  const void* frame = __builtin_frame_address(0);
  const int code = call_inside(forwarded, comms, size, devices);
  for (int rank = 0; rank < size; ++rank) {
    void* handle = code == kSuccess ? static_cast<void**>(comms)[rank] : nullptr;
    end_birth(birth_of_clique(rank, size, frame), handle, code);
  }
  return code;
}

inline int comm_split(Function function, const void* site, void* comm, int color, int key, void* place,
                      void* config) noexcept {
  const auto forwarded = real<int>(function, site, comm, color, key, place, config);
  if (forwarded == nullptr) return kSystemError;
  if (!may_record(function, site, true)) return forwarded(comm, color, key, place, config);
  const CommBirth birth = birth_from_split(comm, color, config, __builtin_frame_address(0));
  void** awaited = color == kNoColor ? nullptr : static_cast<void**>(place);
  return recorded_birth(birth, awaited, forwarded, comm, color, key, place, config);
}

inline int comm_shrink(Function function, const void* site, void* comm, void* excluded, int excluded_count, void* place,
                       void* config, int flags) noexcept {
  const auto forwarded = real<int>(function, site, comm, excluded, excluded_count, place, config, flags);
  if (forwarded == nullptr) return kSystemError;
  if (!may_record(function, site, true)) {
    return forwarded(comm, excluded, excluded_count, place, config, flags);
  }
  const CommBirth birth = birth_from_shrink(comm, config, __builtin_frame_address(0));
  return recorded_birth(birth, static_cast<void**>(place), forwarded, comm, excluded, excluded_count, place, config,
                        flags);
}

template <CommEvent kEvent, class... Flags>
int comm_end(Function function, const void* site, void* comm, Flags... flags) noexcept {
  const auto forwarded = real<int>(function, site, comm, flags...);
  if (forwarded == nullptr) return kSystemError;
  if (!may_record(function, site, false)) return forwarded(comm, flags...);
  recorder::CommRecord record = begin_end(kEvent, comm);
  const int code = call_inside(forwarded, comm, flags...);
  finish_end(record, code);
  return code;
}

// By this call a thread learns that what it started on a non-blocking communicator has ended.
inline int async_error(Function function, const void* site, void* comm, void* error) noexcept {
  const int code = forward<int>(function, site, comm, error);
  if (code == kSuccess && nccl_thread.inside == 0 && error != nullptr) settle_births(*static_cast<int*>(error));
  return code;
}

}  // namespace plumbline::shim::nccl
