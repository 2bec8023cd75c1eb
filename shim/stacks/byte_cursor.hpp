// Reads the encodings of DWARF from a copied stretch of bytes. Past its end everything reads 0, and good() is false.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "shim/python/memory.hpp"

namespace plumbline::shim::stacks {

class ByteCursor {
 public:
  // `address`: where the first of the bytes came from, for values that are relative to their own place.
  ByteCursor(std::span<const std::uint8_t> bytes, Address address) noexcept : bytes_(bytes), address_(address) {}

  bool good() const noexcept { return good_; }
  bool more() const noexcept { return good_ && at_ < bytes_.size(); }
  Address address() const noexcept { return address_ + at_; }

  template <class T>
  T take() noexcept {
    T value{};
    if (sizeof value > bytes_.size() - at_) {
      fail();
      return value;
    }
    std::memcpy(&value, bytes_.data() + at_, sizeof value);
    at_ += sizeof value;
    return value;
  }
  std::uint64_t unsigned_leb() noexcept {
    unsigned shift = 0;
    return leb(shift);
  }
  std::int64_t signed_leb() noexcept {
    unsigned shift = 0;
    std::uint64_t value = leb(shift);
    if (shift < 64 && (value >> (shift - 1) & 1) != 0) value |= ~std::uint64_t{0} << shift;
    return static_cast<std::int64_t>(value);
  }
  // A value in one of the encodings of .eh_frame; indirect ones are left as the address of the value. `data`: what
  // values of the kind datarel are relative to.
  std::uint64_t encoded(std::uint8_t encoding, Address data) noexcept {
    constexpr std::uint8_t kOmitted = 0xff;
    if (encoding == kOmitted) return 0;
    const Address here = address();
    const std::uint64_t value = encoded_value(encoding & 0x0f);
    switch (encoding & 0x70) {
      case 0x10:
        return value + here;
      case 0x30:
        return value + data;
      default:
        return value;
    }
  }
  std::span<const std::uint8_t> part(std::size_t bytes) noexcept {
    if (bytes > bytes_.size() - at_) {
      fail();
      return {};
    }
    const auto taken = bytes_.subspan(at_, bytes);
    at_ += bytes;
    return taken;
  }
  std::span<const std::uint8_t> rest() noexcept { return part(bytes_.size() - at_); }

 private:
  void fail() noexcept {
    good_ = false;
    at_ = bytes_.size();
  }
  std::uint64_t leb(unsigned& shift) noexcept {
    std::uint64_t value = 0;
    for (;;) {
      const auto byte = take<std::uint8_t>();
      if (shift < 64) value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
      shift += 7;
      if ((byte & 0x80) == 0) return value;
    }
  }
  std::uint64_t encoded_value(std::uint8_t format) noexcept {
    switch (format) {
      case 0x01:
        return unsigned_leb();
      case 0x02:
        return take<std::uint16_t>();
      case 0x03:
        return take<std::uint32_t>();
      case 0x09:
        return static_cast<std::uint64_t>(signed_leb());
      case 0x0a:
        return static_cast<std::uint64_t>(std::int64_t{take<std::int16_t>()});
      case 0x0b:
        return static_cast<std::uint64_t>(std::int64_t{take<std::int32_t>()});
      default:
        return take<std::uint64_t>();
    }
  }

  std::span<const std::uint8_t> bytes_;
  Address address_;
  std::size_t at_ = 0;
  bool good_ = true;
};

}  // namespace plumbline::shim::stacks
