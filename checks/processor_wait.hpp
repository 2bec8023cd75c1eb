// How long a rank's training thread waited for a processor: it could have run, and other programs or threads did. What
// a rank loses that way is the machine's doing, not its code's.
#pragma once

#include <cstdint>
#include <optional>

#include "reader/trace.hpp"

namespace plumbline::checks {

// In nanoseconds, within a stretch of the trace's own clock; nothing where it was not recorded.
std::optional<std::int64_t> processor_wait(const reader::Trace& trace, std::uint64_t from_ns, std::uint64_t to_ns);

}  // namespace plumbline::checks
