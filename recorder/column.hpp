// Columns of 64-bit numbers, as a batch of the trace stores them: how to read one, and the parts that both ends share.
// Encoding in trace.fbs names the encodings, docs/trace-format.md explains them; ColumnEncoder writes them.
//
//   std::vector<std::uint64_t> values(batch.count());
//   if (!decode_column({column.encoding(), column.base()}, bytes, values)) …
//
// The decoder takes hostile input: false when the data does not hold exactly out.size() values.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <span>

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

// Null when the bytes end, or do not fit 64 bits.
inline const std::uint8_t* get_varint(const std::uint8_t* at, const std::uint8_t* end, std::uint64_t& value) noexcept {
  if (at == nullptr || at == end) return nullptr;
  if (*at < 0x80) [[likely]] {
    value = *at;
    return at + 1;
  }
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

namespace column_internal {

using Bytes = std::span<const std::uint8_t>;
using Values = std::span<std::uint64_t>;

inline bool decode_raw(Bytes data, Values out) noexcept {
  if (data.size() != out.size() * sizeof(std::uint64_t)) return false;
  if (!out.empty()) std::memcpy(out.data(), data.data(), data.size());
  return true;
}

inline bool decode_varint(Bytes data, Values out) noexcept {
  const std::uint8_t* at = data.data();
  const std::uint8_t* const end = at + data.size();
  for (std::uint64_t& value : out) {
    if ((at = get_varint(at, end, value)) == nullptr) return false;
  }
  return at == end;
}

inline bool decode_delta(std::uint64_t base, Bytes data, Values out) noexcept {
  const std::uint8_t* at = data.data();
  const std::uint8_t* const end = at + data.size();
  for (std::uint64_t& value : out) {
    std::uint64_t coded = 0;
    if ((at = get_varint(at, end, coded)) == nullptr) return false;
    base = value = base + unzigzag(coded);
  }
  return at == end;
}

inline bool decode_split(std::uint64_t base, Bytes data, Values out) noexcept {
  if (data.size() < out.size()) return false;
  const std::uint8_t* low = data.data();
  const std::uint8_t* at = low + out.size();
  const std::uint8_t* const end = low + data.size();
  for (std::uint64_t& value : out) {
    std::uint64_t high = 0;
    if ((at = get_varint(at, end, high)) == nullptr || high >> 56 != 0) return false;
    base = value = base + unzigzag(high << 8 | *low++);
  }
  return at == end;
}

inline bool decode_back(std::uint64_t base, Bytes data, Values out) noexcept {
  const std::uint8_t* at = data.data();
  const std::uint8_t* const end = at + data.size();
  for (std::size_t i = 0; i < out.size(); ++i) {
    std::uint64_t coded = 0;
    if ((at = get_varint(at, end, coded)) == nullptr || coded > i) return false;
    if (coded != 0) {
      base = out[i] = out[i - coded];
      continue;
    }
    if ((at = get_varint(at, end, coded)) == nullptr) return false;
    base = out[i] = base + unzigzag(coded);
  }
  return at == end;
}

}  // namespace column_internal

inline bool decode_column(ColumnHeader header, std::span<const std::uint8_t> data,
                          std::span<std::uint64_t> out) noexcept {
  namespace internal = column_internal;
  switch (header.encoding) {
    case trace::Encoding::Constant:
      for (std::uint64_t& value : out) value = header.base;
      return data.empty();
    case trace::Encoding::Raw64:
      return internal::decode_raw(data, out);
    case trace::Encoding::Varint:
      return internal::decode_varint(data, out);
    case trace::Encoding::DeltaVarint:
      return internal::decode_delta(header.base, data, out);
    case trace::Encoding::Back:
      return internal::decode_back(header.base, data, out);
    case trace::Encoding::DeltaSplit:
      return internal::decode_split(header.base, data, out);
  }
  return false;
}

}  // namespace plumbline::recorder
