// How long a thread of this process has waited for a processor: it could have run, and others did.
#pragma once

#include <cstdint>
#include <optional>

namespace plumbline::recorder {

// In nanoseconds since the thread began; nothing where the kernel does not count it.
std::optional<std::uint64_t> processor_wait_ns(std::uint32_t tid);

}  // namespace plumbline::recorder
