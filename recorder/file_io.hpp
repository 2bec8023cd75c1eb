// Whole reads and writes at a place in a file: what EINTR and short counts would otherwise ask of every caller.
#pragma once

#include <cstdint>
#include <span>

namespace plumbline::recorder {

// 0, or errno. A write that takes nothing counts as ENOSPC, a read that ends early as EIO.
int write_at(int fd, std::span<const std::uint8_t> data, std::uint64_t offset) noexcept;
int read_at(int fd, std::span<std::uint8_t> data, std::uint64_t offset) noexcept;

}  // namespace plumbline::recorder
