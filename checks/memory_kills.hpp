// Processes that the kernel killed for lack of memory while the run was recorded. The victim cannot tell of it: the
// ranks of its host that live on see their memory group's count grow.
#pragma once

#include <cstdint>
#include <optional>

#include "checks/subject.hpp"

namespace plumbline::checks {

struct MemoryKills {
  std::int64_t count = 0;
  std::int32_t seen_by = -1;  // rank
  std::int64_t seen_ns = 0;   // first growth, on the run's clock; it is looked at about once a second
};

// On the host of that trace; nothing: none, or nobody could count.
std::optional<MemoryKills> memory_kills(const Subject& subject, std::size_t trace);

}  // namespace plumbline::checks
