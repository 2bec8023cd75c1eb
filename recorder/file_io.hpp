// Whole reads and writes at a place in a file: what EINTR and short counts would otherwise ask of every caller.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace plumbline::recorder {

// 0, or errno. A write that takes nothing counts as ENOSPC, a read that ends early as EIO.
int write_at(int fd, std::span<const std::uint8_t> data, std::uint64_t offset) noexcept;
int read_at(int fd, std::span<std::uint8_t> data, std::uint64_t offset) noexcept;

// Which file a descriptor stands for.
struct FileIdentity {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  bool operator==(const FileIdentity&) const = default;
};
FileIdentity identity_of(int fd) noexcept;

// A file of ours in somebody else's process. A job may close descriptors that it does not know (a daemon does), and the
// number then becomes a file of its own: what we write must never land there. So the descriptor is asked for right
// before each use, and is opened anew by its path when the number is no longer ours.
//
// Its number is high: a daemon that has closed everything expects its next files to be 0, 1 and 2. Not thread-safe.
class OwnFile {
 public:
  // Takes the descriptor over, under another number if it was low. Forgets the one before without closing it.
  void adopt(int fd) noexcept;
  // -1 and errno when `path` is no longer this file.
  int fd(const std::string& path) noexcept;
  // Leaves a number alone that has become somebody else's.
  void close() noexcept;

 private:
  int fd_ = -1;
  FileIdentity identity_;
};

}  // namespace plumbline::recorder
