// Begin and end of a call: the mark, and the adapter's look at what the call was given and has left.
#pragma once

#include <cstdint>

#include "recorder/event.hpp"

namespace plumbline::shim {

// The backend begins to execute it.
void begin_call(std::uint64_t call) noexcept;
// The backend is done with it. Before whoever waits for it is woken.
void end_call(std::uint64_t call, recorder::Outcome outcome) noexcept;
// Its outputs are copied from elsewhere, in the thread that waits for it.
void await_copies(std::uint64_t call) noexcept;

}  // namespace plumbline::shim
