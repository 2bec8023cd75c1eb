// Which addresses are of one space, so that a free finds its allocation.
#pragma once

#include <cstdint>

#include "recorder/event.hpp"

namespace plumbline::reader {

// Addresses of one space are freed by the same family of calls. A block of the caching allocator starts at the address
// of its segment, and a segment at that of its cudaMalloc: they must not be taken for one another.
constexpr std::uint64_t space_of(recorder::Source source) {
  using recorder::Source;
  switch (source) {
    case Source::kCpu:
      return 0;
    case Source::kCudaHost:
      return 1;
    case Source::kCudaMalloc:
    case Source::kCudaAsync:
    case Source::kCudaManaged:
    case Source::kNcclInternal:
      return 2;
    case Source::kCachingBlock:
      return 3;
    case Source::kCachingSegment:
      return 4;
  }
  return 5;
}

// A key for maps, of an event's tag and address. Its own inverse: address_key(tag, address_key(tag, a)) is a. User
// addresses leave the upper seven bits free.
constexpr std::uint64_t address_key(std::uint64_t tag, std::uint64_t address) {
  constexpr unsigned kSpaceShift = 58;
  return address ^ (space_of(recorder::source_of(static_cast<std::uint32_t>(tag))) + 1) << kSpaceShift;
}

}  // namespace plumbline::reader
