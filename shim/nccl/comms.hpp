// The life of communicators: their records, and the group that each one's calls belong to.
//
// A communicator is named after what all of its ranks know: the unique id that it was made from, or its parent's name,
// the how-manieth split or shrink of it this is, and the split's color. One that was made before recording began, by a
// function that is not hooked, or in a group call that had not ended, is taken in at its first use.
#pragma once

#include <cstdint>

#include "recorder/event.hpp"
#include "shim/nccl/comm_table.hpp"
#include "shim/nccl/nccl_abi.hpp"

namespace plumbline::shim::nccl {

// What is known of a communicator while it is made.
struct CommBirth {
  recorder::CommEvent event = recorder::CommEvent::kInit;
  void* parent = nullptr;
  std::uint64_t unique_id_hash = 0;
  std::uint64_t process_group = 0;
  std::int32_t rank = -1;  // -1: NCCL decides
  std::int32_t size = -1;
  const char* label = nullptr;  // the caller's own name for it
};

// `frame` is the frame address of the hook.
CommBirth birth_from_ids(const NcclUniqueId* ids, int count, int rank, int size, const void* config,
                         const void* frame) noexcept;
CommBirth birth_of_clique(int rank, int size, const void* frame) noexcept;  // ncclCommInitAll
CommBirth birth_from_split(void* parent, int color, const void* config, const void* frame) noexcept;
CommBirth birth_from_shrink(void* parent, const void* config, const void* frame) noexcept;

// Records that the making began (no handle, code kInProgress), so that one that hangs shows.
void begin_birth(const CommBirth& birth) noexcept;

// Records its end, and takes the communicator in. `handle` null: none was made, or it is made when the group call ends.
void end_birth(const CommBirth& birth, void* handle, int code) noexcept;

// The entry of a handle; asks NCCL for rank and size at first sight. Null when they cannot be had.
Comm* known_comm(void* handle) noexcept;

// Finalize, destroy, abort, revoke. To be called before the real function: NCCL may give a freed handle out again.
recorder::CommRecord begin_end(recorder::CommEvent event, void* handle) noexcept;
void finish_end(recorder::CommRecord& record, int code) noexcept;

}  // namespace plumbline::shim::nccl
