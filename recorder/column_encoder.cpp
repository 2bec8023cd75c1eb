#include "recorder/column_encoder.hpp"

#include <algorithm>

namespace plumbline::recorder {
namespace {

// What compression gains from the low bytes' being apart is worth this part of the length before it.
constexpr std::size_t kSplitGain = 8;

constexpr std::size_t varint_bytes(std::uint64_t value) noexcept {
  return (static_cast<std::size_t>(std::bit_width(value | 1)) + 6) / 7;
}

void put_varint(std::vector<std::uint8_t>& out, std::uint64_t value) {
  while (value >= 0x80) {
    out.push_back(static_cast<std::uint8_t>(value) | 0x80);
    value >>= 7;
  }
  out.push_back(static_cast<std::uint8_t>(value));
}

// Bytes that each encoding would take.
struct Lengths {
  std::size_t plain = 0;
  std::size_t delta = 0;
  std::size_t split = 0;
  std::size_t raw = 0;
  bool constant = true;
  bool rising = true;
};

Lengths measure(std::span<const std::uint64_t> values) {
  Lengths lengths;
  lengths.raw = values.size() * sizeof(std::uint64_t);
  std::uint64_t before = values[0];
  for (const std::uint64_t value : values) {
    const std::uint64_t difference = zigzag(value - before);
    lengths.plain += varint_bytes(value);
    lengths.delta += varint_bytes(difference);
    lengths.split += 1 + varint_bytes(difference >> 8);
    lengths.constant = lengths.constant && value == before;
    lengths.rising = lengths.rising && value >= before;
    before = value;
  }
  return lengths;
}

template <class Put>
void for_each_difference(std::span<const std::uint64_t> values, Put&& put) {
  std::uint64_t before = values[0];
  for (const std::uint64_t value : values) {
    put(zigzag(value - before));
    before = value;
  }
}

}  // namespace

ColumnHeader ColumnEncoder::encode(std::span<const std::uint64_t> values, std::vector<std::uint8_t>& data) {
  data.clear();
  if (values.empty()) return {};
  const Lengths lengths = measure(values);
  if (lengths.constant) return {trace::Encoding::Constant, values[0]};

  const std::size_t best = std::min({lengths.plain, lengths.delta, lengths.split, lengths.raw});
  // Numbers that only rise (times, ids) do not recur; short ones have nothing to gain.
  if (!lengths.rising && best > values.size() + values.size() / 8 && encode_back(values, best, data)) {
    return {trace::Encoding::Back, values[0]};
  }
  data.clear();
  if (lengths.split < lengths.raw && lengths.split <= best + best / kSplitGain) {
    for_each_difference(values, [&](std::uint64_t d) { data.push_back(static_cast<std::uint8_t>(d)); });
    for_each_difference(values, [&](std::uint64_t d) { put_varint(data, d >> 8); });
    return {trace::Encoding::DeltaSplit, values[0]};
  }
  if (best == lengths.plain) {
    for (const std::uint64_t value : values) put_varint(data, value);
    return {trace::Encoding::Varint, 0};
  }
  if (best == lengths.delta) {
    for_each_difference(values, [&](std::uint64_t d) { put_varint(data, d); });
    return {trace::Encoding::DeltaVarint, values[0]};
  }
  data.resize(lengths.raw);
  std::memcpy(data.data(), values.data(), data.size());
  return {trace::Encoding::Raw64, 0};
}

// False when it takes `limit` bytes or more.
bool ColumnEncoder::encode_back(std::span<const std::uint64_t> values, std::size_t limit,
                                std::vector<std::uint8_t>& data) {
  places_.assign(std::bit_ceil(values.size() * 2), 0);
  std::uint64_t before = values[0];
  for (std::size_t i = 0; i < values.size() && data.size() < limit; ++i) {
    std::uint32_t* place = last_place(values[i], values);
    if (*place != 0) {
      put_varint(data, i + 1 - *place);
    } else {
      put_varint(data, 0);
      put_varint(data, zigzag(values[i] - before));
    }
    *place = static_cast<std::uint32_t>(i + 1);
    before = values[i];
  }
  return data.size() < limit;
}

std::uint32_t* ColumnEncoder::last_place(std::uint64_t value, std::span<const std::uint64_t> values) {
  const std::size_t mask = places_.size() - 1;
  std::size_t at = static_cast<std::size_t>(value * 0x9e3779b97f4a7c15u >> 32) & mask;
  while (places_[at] != 0 && values[places_[at] - 1] != value) at = (at + 1) & mask;
  return &places_[at];
}

}  // namespace plumbline::recorder
