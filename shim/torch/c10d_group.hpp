// Process groups behind c10d backends.
#pragma once

#include <cstdint>

namespace plumbline::shim::adapter {

// The id of a backend's group, which is defined in the trace at first sight. `backend` is a c10d::Backend*. 0 while the
// group has no name yet. Wait-free once the group is known.
std::uint64_t group_of(void* backend) noexcept;

// This process's rank in the backend's group.
int rank_in_group(void* backend) noexcept;
int group_size(void* backend) noexcept;

}  // namespace plumbline::shim::adapter
