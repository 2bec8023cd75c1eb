#include "recorder/text_hash.hpp"

#include "recorder/captures.hpp"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace plumbline::recorder {

std::uint64_t text_hash(std::string_view text) noexcept {
  const std::uint64_t hash = XXH3_64bits(text.data(), text.size());
  return hash == 0 ? 1 : hash;
}

std::uint64_t group_hash(std::string_view name, std::string_view ranks) noexcept {
  const std::uint64_t hash = XXH3_64bits_withSeed(ranks.data(), ranks.size(), text_hash(name));
  return hash == 0 ? 1 : hash;
}

std::uint64_t capture_hash(const void* data, std::size_t bytes) noexcept { return XXH3_64bits(data, bytes); }

}  // namespace plumbline::recorder
