#include "reader/column_decoder.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "recorder/column.hpp"

namespace plumbline::reader {
namespace {

constexpr std::size_t kBlockValues = std::size_t{64} << 10;
constexpr std::uint64_t kContinue = 0x8080808080808080ull;

// Packs the low seven bits of each byte together.
constexpr std::uint64_t squeeze(std::uint64_t word) {
  word = (word & 0x7f007f007f007f00ull) >> 1 | (word & 0x007f007f007f007full);
  word = (word & 0x3fff00003fff0000ull) >> 2 | (word & 0x00003fff00003fffull);
  return (word & 0x0fffffff00000000ull) >> 4 | (word & 0x000000000fffffffull);
}

template <bool kDelta>
bool decode_varints(std::span<const std::uint8_t> bytes, std::uint64_t previous, std::span<std::uint64_t> values) {
  const std::uint8_t* at = bytes.data();
  const std::uint8_t* const end = at + bytes.size();
  std::uint64_t* to = values.data();
  const std::uint64_t* const last = to + values.size();
  while (to != last) {
    std::uint64_t value;
    if (end - at >= 8) {
      if (*at < 0x80) {
        value = *at++;
      } else {
        // Eight bytes at once: the first byte below 0x80 ends the number.
        std::uint64_t word;
        std::memcpy(&word, at, sizeof word);
        const std::uint64_t stops = ~word & kContinue;
        if (stops != 0) {
          at += static_cast<std::size_t>(std::countr_zero(stops)) / 8 + 1;
          value = squeeze(word & (stops ^ (stops - 1)));
        } else if (!(at = recorder::get_varint(at, end, value))) {
          return false;
        }
      }
    } else if (!(at = recorder::get_varint(at, end, value))) {
      return false;
    }
    if constexpr (kDelta) {
      previous += recorder::unzigzag(value);
      *to++ = previous;
    } else {
      *to++ = value;
    }
  }
  return at == end;
}

}  // namespace

std::uint64_t* ColumnArena::take(std::size_t values) {
  if (values > kMaxValues - taken_) return nullptr;
  taken_ += values;
  if (blocks_.empty() || blocks_.back().size - blocks_.back().used < values) {
    const std::size_t size = std::max(kBlockValues, values);
    // Uninitialised on purpose: every value is written by its decoder.
    blocks_.push_back({std::unique_ptr<std::uint64_t[]>(new std::uint64_t[size]), size, 0});
  }
  Block& block = blocks_.back();
  std::uint64_t* const result = block.values.get() + block.used;
  block.used += values;
  return result;
}

void ColumnArena::reset() {
  // Several small blocks become one that is large enough for a frame like the last.
  if (blocks_.size() > 1) {
    const std::size_t size = taken_ + taken_ / 4;
    blocks_.clear();
    blocks_.push_back({std::unique_ptr<std::uint64_t[]>(new std::uint64_t[size]), size, 0});
  }
  if (!blocks_.empty()) blocks_.back().used = 0;
  taken_ = 0;
}

bool decode_column(const trace::Column* column, std::span<std::uint64_t> to) {
  if (column == nullptr) {
    std::fill(to.begin(), to.end(), 0);
    return true;
  }
  const auto* data = column->data();
  const std::span<const std::uint8_t> bytes =
      data != nullptr ? std::span<const std::uint8_t>(data->data(), data->size()) : std::span<const std::uint8_t>();
  // The two encodings that most of a trace is made of; the others are as fast as they can be already.
  if (column->encoding() == trace::Encoding::Varint) return decode_varints<false>(bytes, 0, to);
  if (column->encoding() == trace::Encoding::DeltaVarint) return decode_varints<true>(bytes, column->base(), to);
  return recorder::decode_column({column->encoding(), column->base()}, bytes, to);
}

}  // namespace plumbline::reader
