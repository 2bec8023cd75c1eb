// From an instruction to its line, by the tables that code objects carry. Pure functions over bytes, so that they can
// be run on a copy; a damaged table gives a wrong line or none, never a read beyond its end.
#pragma once

#include <cstdint>
#include <span>

#include "shim/python/layout.hpp"

namespace plumbline::shim::python {

// `offset`: of the instruction, in bytes; below 0 the function has not begun. 0: the table has no line for it.
std::uint32_t line_at(LineFormat format, std::span<const std::uint8_t> table, int first_line,
                      std::int64_t offset) noexcept;

}  // namespace plumbline::shim::python
