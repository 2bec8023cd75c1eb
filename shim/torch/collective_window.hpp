// Which collectives are looked at: those of the optimizer steps that the settings choose, and of a step with very many
// of them only some, the same ones on every rank of their group.
#pragma once

#include <cstdint>

namespace plumbline::shim::adapter {

// From here on collectives belong to this step; -1: none is looked at. Needs no lock.
void open_collectives(std::int64_t step) noexcept;

// The step that a call belongs to, -1 when it is not to be looked at. From any thread.
std::int64_t step_of_collective(std::uint64_t group, std::uint64_t seq) noexcept;

}  // namespace plumbline::shim::adapter
