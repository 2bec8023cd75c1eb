// Memory as unwinding sees it: a copy of the upper part of a stack, as it was at the moment that is looked at, and the
// process's own memory, guarded, for all else.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "shim/python/memory.hpp"

namespace plumbline::shim::stacks {

class StackMemory {
 public:
  StackMemory() = default;
  StackMemory(Address begin, const std::byte* copy, std::size_t bytes) noexcept
      : begin_(begin), copy_(copy), bytes_(bytes) {}

  // False: nothing is there.
  bool read(Address from, void* to, std::size_t bytes) const noexcept {
    if (from >= begin_ && bytes <= bytes_ && from - begin_ <= bytes_ - bytes) {
      std::memcpy(to, copy_ + (from - begin_), bytes);
      return true;
    }
    return read_guarded(from, to, bytes) == bytes;
  }

  template <class T>
  bool get(Address from, T& value) const noexcept {
    return read(from, &value, sizeof value);
  }

 private:
  Address begin_ = 0;
  const std::byte* copy_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace plumbline::shim::stacks
