#include "reader/import/bracket_scan.hpp"

#include <bit>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace plumbline::reader::imports {
namespace {

#if defined(__SSE2__)
constexpr std::size_t kBlock = 64;

struct Masks {
  std::uint64_t quotes = 0;
  std::uint64_t backslashes = 0;
  std::uint64_t opens = 0;
  std::uint64_t closes = 0;
};

std::uint64_t equal_bytes(__m128i bytes, char wanted) {
  return static_cast<std::uint32_t>(_mm_movemask_epi8(_mm_cmpeq_epi8(bytes, _mm_set1_epi8(wanted))));
}

Masks masks_of(const char* block) {
  Masks masks;
  for (unsigned i = 0; i < kBlock; i += 16) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(block + i));
    // '[' and '{', ']' and '}' differ in one bit.
    const __m128i folded = _mm_or_si128(bytes, _mm_set1_epi8(0x20));
    masks.quotes |= equal_bytes(bytes, '"') << i;
    masks.backslashes |= equal_bytes(bytes, '\\') << i;
    masks.opens |= equal_bytes(folded, '{') << i;
    masks.closes |= equal_bytes(folded, '}') << i;
  }
  return masks;
}

// Bit i: the number of bits set up to and including i is odd.
std::uint64_t odd_prefix(std::uint64_t bits) {
  for (unsigned shift = 1; shift < 64; shift *= 2) bits ^= bits << shift;
  return bits;
}
#endif

}  // namespace

bool BracketScan::step(char byte) {
  if (escaped_) {
    escaped_ = false;
  } else if (in_string_) {
    in_string_ = byte != '"';
    escaped_ = byte == '\\';
  } else if (byte == '"') {
    in_string_ = true;
  } else if (byte == '{' || byte == '[') {
    ++depth_;
  } else if (byte == '}' || byte == ']') {
    return --depth_ == 0;
  }
  return false;
}

std::size_t BracketScan::find_end(std::string_view piece) {
  std::size_t at = 0;
#if defined(__SSE2__)
  while (piece.size() - at >= kBlock) {
    const Masks masks = masks_of(piece.data() + at);
    if (masks.backslashes != 0 || escaped_) {
      for (std::size_t end = at + kBlock; at < end; ++at)
        if (step(piece[at])) return at + 1;
      continue;
    }
    const std::uint64_t inside = odd_prefix(masks.quotes) ^ (in_string_ ? ~std::uint64_t{0} : 0);
    const std::uint64_t closes = masks.closes & ~inside;
    const std::uint64_t opens = masks.opens & ~inside;
    const auto closed = static_cast<std::uint64_t>(std::popcount(closes));
    if (closed >= depth_) {
      for (std::uint64_t brackets = opens | closes; brackets != 0; brackets &= brackets - 1) {
        const std::uint64_t lowest = brackets & -brackets;
        if ((opens & lowest) != 0)
          ++depth_;
        else if (--depth_ == 0)
          return at + static_cast<std::size_t>(std::countr_zero(brackets)) + 1;
      }
    } else {
      depth_ = depth_ - closed + static_cast<std::uint64_t>(std::popcount(opens));
    }
    in_string_ = (inside >> 63) != 0;
    at += kBlock;
  }
#endif
  for (; at < piece.size(); ++at)
    if (step(piece[at])) return at + 1;
  return std::string_view::npos;
}

std::size_t plain_prefix(std::string_view text) {
  std::size_t at = 0;
#if defined(__SSE2__)
  for (; text.size() - at >= 16; at += 16) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(text.data() + at));
    const std::uint64_t found = equal_bytes(bytes, '"') | equal_bytes(bytes, '\\');
    if (found != 0) return at + static_cast<std::size_t>(std::countr_zero(found));
  }
#endif
  while (at < text.size() && text[at] != '"' && text[at] != '\\') ++at;
  return at;
}

}  // namespace plumbline::reader::imports
