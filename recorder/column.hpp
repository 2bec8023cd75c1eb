// Columns of 64-bit numbers, both ways: what a batch of the trace stores (docs/trace-format.md, Encoding in trace.fbs).
//
//   std::vector<std::uint8_t> data;
//   auto header = encode_column(values, data);         // picks the shortest encoding
//   bool ok = decode_column(header, data, out);        // out.size() is the batch's count
//
// The decoder takes hostile input: false when the data does not hold exactly out.size() values.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "recorder/trace_generated.h"

namespace plumbline::recorder {

struct ColumnHeader {
  trace::Encoding encoding = trace::Encoding::Constant;
  std::uint64_t base = 0;
};

constexpr std::uint64_t zigzag(std::uint64_t difference) noexcept {
  return difference << 1 ^ (difference >> 63 ? ~std::uint64_t{0} : 0);
}
constexpr std::uint64_t unzigzag(std::uint64_t value) noexcept {
  return value >> 1 ^ (value & 1 ? ~std::uint64_t{0} : 0);
}

constexpr std::size_t varint_bytes(std::uint64_t value) noexcept {
  return (static_cast<std::size_t>(std::bit_width(value | 1)) + 6) / 7;
}

inline void put_varint(std::vector<std::uint8_t>& out, std::uint64_t value) {
  while (value >= 0x80) {
    out.push_back(static_cast<std::uint8_t>(value) | 0x80);
    value >>= 7;
  }
  out.push_back(static_cast<std::uint8_t>(value));
}

// Null when the bytes end, or do not fit 64 bits.
inline const std::uint8_t* get_varint(const std::uint8_t* at, const std::uint8_t* end, std::uint64_t& value) noexcept {
  std::uint64_t result = 0;
  for (unsigned shift = 0; at != end && shift < 64; shift += 7) {
    const std::uint8_t byte = *at++;
    if (shift == 63 && byte > 1) return nullptr;
    result |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
    if (byte < 0x80) {
      value = result;
      return at;
    }
  }
  return nullptr;
}

inline ColumnHeader encode_column(std::span<const std::uint64_t> values, std::vector<std::uint8_t>& data) {
  data.clear();
  if (values.empty()) return {};
  std::size_t plain = 0;
  std::size_t delta = 0;
  bool constant = true;
  std::uint64_t before = values[0];
  for (const std::uint64_t value : values) {
    plain += varint_bytes(value);
    delta += varint_bytes(zigzag(value - before));
    constant = constant && value == values[0];
    before = value;
  }
  if (constant) return {trace::Encoding::Constant, values[0]};
  if (values.size() * 8 <= plain && values.size() * 8 <= delta) {
    data.resize(values.size() * 8);
    std::memcpy(data.data(), values.data(), data.size());
    return {trace::Encoding::Raw64, 0};
  }
  if (plain <= delta) {
    for (const std::uint64_t value : values) put_varint(data, value);
    return {trace::Encoding::Varint, 0};
  }
  before = values[0];
  for (const std::uint64_t value : values) {
    put_varint(data, zigzag(value - before));
    before = value;
  }
  return {trace::Encoding::DeltaVarint, values[0]};
}

inline bool decode_column(ColumnHeader header, std::span<const std::uint8_t> data,
                          std::span<std::uint64_t> out) noexcept {
  const std::uint8_t* at = data.data();
  const std::uint8_t* const end = at + data.size();
  switch (header.encoding) {
    case trace::Encoding::Constant:
      for (std::uint64_t& value : out) value = header.base;
      return data.empty();
    case trace::Encoding::Raw64:
      if (data.size() != out.size() * 8) return false;
      if (!out.empty()) std::memcpy(out.data(), data.data(), data.size());
      return true;
    case trace::Encoding::Varint:
      for (std::uint64_t& value : out) {
        if ((at = get_varint(at, end, value)) == nullptr) return false;
      }
      return at == end;
    case trace::Encoding::DeltaVarint: {
      std::uint64_t before = header.base;
      for (std::uint64_t& value : out) {
        std::uint64_t coded = 0;
        if ((at = get_varint(at, end, coded)) == nullptr) return false;
        before = value = before + unzigzag(coded);
      }
      return at == end;
    }
  }
  return false;
}

}  // namespace plumbline::recorder
