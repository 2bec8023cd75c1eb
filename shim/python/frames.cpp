#include "shim/python/frames.hpp"

#include <vector>

#include "shim/python/line_table.hpp"

namespace plumbline::shim::python {
namespace {

constexpr std::size_t kLongestText = 4096;
constexpr std::size_t kLongestTable = 1 << 20;

Address pointer_at(Address from) noexcept { return load<Address, GuardedMemory>(from); }

void append_utf8(std::string& out, std::uint32_t c) {
  const auto add = [&](std::uint32_t byte) { out.push_back(static_cast<char>(byte)); };
  if (c < 0x80) return add(c);
  if (c < 0x800) {
    add(0xc0 | c >> 6);
  } else if (c < 0x10000) {
    add(0xe0 | c >> 12);
    add(0x80 | (c >> 6 & 63));
  } else {
    add(0xf0 | (c >> 18 & 7));
    add(0x80 | (c >> 12 & 63));
    add(0x80 | (c >> 6 & 63));
  }
  add(0x80 | (c & 63));
}

}  // namespace

std::string utf8_of(const TextView& text) noexcept {
  std::string raw(std::min(text.bytes(), kLongestText * 4), '\0');
  raw.resize(text.data == 0 ? 0 : read_guarded(text.data, raw.data(), raw.size()));
  if (text.ascii) return raw;
  std::string out;
  for (std::size_t at = 0; at + text.width <= raw.size(); at += text.width) {
    std::uint32_t c = 0;
    std::memcpy(&c, raw.data() + at, text.width);
    append_utf8(out, c);
  }
  return out;
}

std::optional<FrameText> describe(const Layout& layout, const Frame& frame) noexcept {
  FrameText text;
  text.file = utf8_of(text_view<GuardedMemory>(layout, pointer_at(frame.code + layout.code_filename)));
  text.function = utf8_of(text_view<GuardedMemory>(layout, pointer_at(frame.code + layout.code_name)));
  if (text.file.empty()) return std::nullopt;
  const Address table = pointer_at(frame.code + layout.code_lines);
  const auto size = load<std::int64_t, GuardedMemory>(table + kVarSize);
  const auto first_line = load<std::int32_t, GuardedMemory>(frame.code + layout.code_first_line);
  if (size < 0 || static_cast<std::size_t>(size) > kLongestTable) return text;
  std::vector<std::uint8_t> bytes(static_cast<std::size_t>(size));
  if (read_guarded(table + kBytesData, bytes.data(), bytes.size()) == bytes.size())
    text.line = line_at(layout.lines, bytes, first_line, frame.offset);
  return text;
}

}  // namespace plumbline::shim::python
