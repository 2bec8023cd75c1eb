// Whole reads and writes at a place in a file: what EINTR and short counts would otherwise ask of every caller.
#pragma once

#include <cstdint>
#include <span>

namespace plumbline::recorder {

// 0, or errno. A write that takes nothing counts as ENOSPC, a read that ends early as EIO.
int write_at(int fd, std::span<const std::uint8_t> data, std::uint64_t offset) noexcept;
int read_at(int fd, std::span<std::uint8_t> data, std::uint64_t offset) noexcept;

// Which file a descriptor stands for. A job may close descriptors that it does not know (a daemon does), and the number
// then becomes a file of its own: what we write must never land there.
struct FileIdentity {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  bool operator==(const FileIdentity&) const = default;
};
FileIdentity identity_of(int fd) noexcept;

}  // namespace plumbline::recorder
