#include "shim/python/line_table.hpp"

namespace plumbline::shim::python {
namespace {

using Bytes = std::span<const std::uint8_t>;

int signed_byte(std::uint8_t byte) noexcept { return static_cast<std::int8_t>(byte); }

int line_by_pairs(Bytes table, int line, std::int64_t offset) noexcept {
  std::int64_t address = 0;
  for (std::size_t i = 0; i + 1 < table.size(); i += 2) {
    address += table[i];
    if (address > offset) break;
    line += signed_byte(table[i + 1]);
  }
  return line;
}

int line_by_ranges(Bytes table, int line, std::int64_t offset) noexcept {
  constexpr int kNoLine = -128;
  std::int64_t end = 0;
  for (std::size_t i = 0; i + 1 < table.size(); i += 2) {
    end += table[i];
    const int difference = signed_byte(table[i + 1]);
    if (difference != kNoLine) line += difference;
    if (end > offset) return difference == kNoLine ? 0 : line;
  }
  return 0;
}

// Numbers of the location table: six bits a byte, low ones first.
class Locations {
 public:
  explicit Locations(Bytes table) noexcept : table_(table) {}

  bool more() const noexcept { return at_ < table_.size(); }
  std::uint8_t byte() noexcept { return more() ? table_[at_++] : std::uint8_t{0}; }
  std::uint32_t number() noexcept {
    std::uint32_t value = 0;
    for (unsigned shift = 0; shift < 32; shift += 6) {
      const std::uint8_t part = byte();
      value |= static_cast<std::uint32_t>(part & 63) << shift;
      if ((part & 64) == 0) break;
    }
    return value;
  }
  int signed_number() noexcept {
    const std::uint32_t value = number();
    const int magnitude = static_cast<int>(value >> 1);
    return (value & 1) != 0 ? -magnitude : magnitude;
  }
  // The columns of an entry say nothing about lines.
  void skip_entry() noexcept {
    while (more() && (table_[at_] & 0x80) == 0) ++at_;
  }

 private:
  Bytes table_;
  std::size_t at_ = 0;
};

int line_by_locations(Bytes table, int line, std::int64_t offset) noexcept {
  constexpr int kOneLine = 10, kNoColumns = 13, kLong = 14, kNone = 15;
  Locations locations(table);
  std::int64_t end = 0;
  while (locations.more()) {
    const std::uint8_t head = locations.byte();
    const int code = head >> 3 & 15;
    end += 2 * (std::int64_t{head & 7} + 1);
    if (code >= kNoColumns && code <= kLong) {
      line += locations.signed_number();
    } else if (code >= kOneLine && code < kNoColumns) {
      line += code - kOneLine;
    }
    if (end > offset) return code == kNone ? 0 : line;
    locations.skip_entry();
  }
  return 0;
}

}  // namespace

std::uint32_t line_at(LineFormat format, Bytes table, int first_line, std::int64_t offset) noexcept {
  int line = first_line;
  if (offset >= 0) {
    switch (format) {
      case LineFormat::kPairs:
        line = line_by_pairs(table, first_line, offset);
        break;
      case LineFormat::kRanges:
        line = line_by_ranges(table, first_line, offset);
        break;
      case LineFormat::kLocations:
        line = line_by_locations(table, first_line, offset);
        break;
    }
  }
  return line > 0 ? static_cast<std::uint32_t>(line) : 0;
}

}  // namespace plumbline::shim::python
