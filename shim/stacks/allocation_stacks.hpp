// Stacks of allocation requests that are large or fail. The requesting thread leaves its own, and runs on.
#pragma once

#include <cstdint>

#include "recorder/stacks.hpp"

namespace plumbline::shim::stacks {

// For every request: a comparison, unless it is large. Of the same size from the same line, only the first is taken.
void note_request(std::uint64_t bytes) noexcept;

// A request has failed.
void note_failure(std::uint64_t bytes) noexcept;

}  // namespace plumbline::shim::stacks
