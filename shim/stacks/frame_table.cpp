#include "shim/stacks/frame_table.hpp"

#include <span>

#include "shim/stacks/byte_cursor.hpp"

namespace plumbline::shim::stacks {
namespace {

using Bytes = std::vector<std::uint8_t>;

// More than any compiler writes for one function.
constexpr std::uint32_t kLongestEntry = 1 << 16;

// A record of .eh_frame without its length.
std::optional<Bytes> record_at(Address at, Address& body, const StackMemory& memory) noexcept {
  constexpr std::uint32_t kLongForm = 0xffffffff;
  std::uint32_t length = 0;
  if (!memory.get(at, length) || length < 4 || length == kLongForm || length > kLongestEntry) return std::nullopt;
  Bytes bytes(length);
  body = at + sizeof length;
  if (!memory.read(body, bytes.data(), length)) return std::nullopt;
  return bytes;
}

struct Common {
  FrameEntry entry;
  std::uint8_t pointer_encoding = 0;
  bool augmented = false;
};

std::optional<Common> parse_common(Address at, const StackMemory& memory) noexcept {
  Address body = 0;
  const auto bytes = record_at(at, body, memory);
  if (!bytes) return std::nullopt;
  ByteCursor cursor(*bytes, body);
  Common common;
  if (cursor.take<std::uint32_t>() != 0) return std::nullopt;  // not a common record
  const auto version = cursor.take<std::uint8_t>();
  char augmentation[8] = {};
  std::size_t length = 0;
  for (char c; (c = static_cast<char>(cursor.take<std::uint8_t>())) != '\0'; augmentation[length++] = c)
    if (length + 1 == sizeof augmentation) return std::nullopt;
  common.entry.code_factor = cursor.unsigned_leb();
  common.entry.data_factor = cursor.signed_leb();
  common.entry.return_register = version == 1 ? cursor.take<std::uint8_t>() : cursor.unsigned_leb();
  if (augmentation[0] == 'z') {
    common.augmented = true;
    const std::uint64_t augmentation_bytes = cursor.unsigned_leb();
    const Address data = cursor.address();
    ByteCursor details(cursor.part(augmentation_bytes), data);
    for (std::size_t i = 1; i < length; ++i) {
      if (augmentation[i] == 'R') common.pointer_encoding = details.take<std::uint8_t>();
      if (augmentation[i] == 'L') details.take<std::uint8_t>();
      if (augmentation[i] == 'P') details.encoded(details.take<std::uint8_t>(), 0);
      if (augmentation[i] == 'S') common.entry.signal_frame = true;
    }
  } else if (length != 0) {
    return std::nullopt;
  }
  const auto program = cursor.rest();
  common.entry.common_program.assign(program.begin(), program.end());
  return cursor.good() ? std::optional(common) : std::nullopt;
}

std::optional<FrameEntry> parse_entry(Address at, const StackMemory& memory) noexcept {
  Address body = 0;
  const auto bytes = record_at(at, body, memory);
  if (!bytes) return std::nullopt;
  ByteCursor cursor(*bytes, body);
  const auto back = cursor.take<std::uint32_t>();
  const auto common = back != 0 ? parse_common(body - back, memory) : std::nullopt;
  if (!common) return std::nullopt;
  FrameEntry entry = common->entry;
  entry.begin = cursor.encoded(common->pointer_encoding, 0);
  entry.end = entry.begin + cursor.encoded(common->pointer_encoding & 0x0f, 0);
  if (common->augmented) cursor.part(cursor.unsigned_leb());
  const auto program = cursor.rest();
  entry.program.assign(program.begin(), program.end());
  return cursor.good() ? std::optional(entry) : std::nullopt;
}

}  // namespace

// The header holds a sorted table of function and entry, in the one encoding that every linker writes.
std::optional<FrameEntry> find_frame_entry(Address header, Address pc, const StackMemory& memory) noexcept {
  constexpr std::uint8_t kVersion = 1, kTableEncoding = 0x3b;
  struct Row {
    std::int32_t function;
    std::int32_t entry;
  };
  std::uint8_t head[32];
  if (!memory.read(header, head, sizeof head) || head[0] != kVersion || head[3] != kTableEncoding) return std::nullopt;
  ByteCursor cursor(std::span<const std::uint8_t>(head).subspan(4), header + 4);
  cursor.encoded(head[1], header);
  const std::uint64_t count = cursor.encoded(head[2], header);
  const Address table = cursor.address();
  const auto row = [&](std::uint64_t i) {
    Row found{};
    memory.get(table + i * sizeof found, found);
    return found;
  };
  const auto begins_after = [&](std::uint64_t i) {
    return header + static_cast<Address>(std::int64_t{row(i).function}) > pc;
  };
  std::uint64_t low = 0;
  for (std::uint64_t high = count; low < high;) {
    const std::uint64_t middle = low + (high - low) / 2;
    if (begins_after(middle))
      high = middle;
    else
      low = middle + 1;
  }
  if (low == 0) return std::nullopt;
  const auto entry = parse_entry(header + static_cast<Address>(std::int64_t{row(low - 1).entry}), memory);
  return entry && pc >= entry->begin && pc < entry->end ? entry : std::nullopt;
}

}  // namespace plumbline::shim::stacks
