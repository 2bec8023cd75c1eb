// The line of the job that makes the call in hand: the innermost Python frame whose file is not torch's own.
#pragma once

#include <cstdint>

namespace plumbline::shim::python {

// Text id of "PATH:LINE in FUNCTION" for the calling thread; 0 where there is none, or frames cannot be read. Some
// tens of nanoseconds when the thread has called from there before; allocates at a place's first sight.
std::uint64_t call_site() noexcept;

// In the child of a fork, whose trace knows none of the texts.
void forget_call_sites() noexcept;

}  // namespace plumbline::shim::python
