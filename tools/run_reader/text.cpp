#include "tools/run_reader/text.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <ctime>

namespace plumbline::tools {
namespace {

constexpr std::string_view kCut = "..";

bool starts_code_point(char byte) { return (static_cast<unsigned char>(byte) & 0xc0) != 0x80; }

// The byte at which code point number `index` starts.
std::size_t byte_of(std::string_view text, std::size_t index) {
  std::size_t at = 0;
  for (; at < text.size(); ++at) {
    if (!starts_code_point(text[at])) continue;
    if (index == 0) return at;
    --index;
  }
  return at;
}

// "1.160 s" is one word: nothing is as hard to read as a number on one line and its unit on the next.
std::size_t word_end(std::string_view text, std::size_t start) {
  const std::size_t end = std::min(text.find(' ', start), text.size());
  if (end == text.size() || end == start || std::isdigit(static_cast<unsigned char>(text[end - 1])) == 0) return end;
  const std::string_view rest = text.substr(end + 1);
  const std::string_view unit = rest.substr(0, rest.find_first_not_of("abcdefghijklmnopqrstuvwxyzBKMGTPE"));
  constexpr std::array<std::string_view, 13> kUnits = {"s", "ms",  "us",  "ns",  "min", "h",  "d",
                                                       "B", "KiB", "MiB", "GiB", "TiB", "PiB"};
  return std::find(kUnits.begin(), kUnits.end(), unit) == kUnits.end() ? end : word_end(text, end + 1);
}

}  // namespace

std::string count_text(std::uint64_t count) {
  std::string text = std::to_string(count);
  for (std::size_t at = text.size(); at > 3;) {
    at -= 3;
    text.insert(at, 1, ',');
  }
  return text;
}

std::string plural(std::uint64_t count, std::string_view one, std::string_view many) {
  if (count == 1) return fmt::format("1 {}", one);
  if (many.empty()) return fmt::format("{} {}s", count_text(count), one);
  return fmt::format("{} {}", count_text(count), many);
}

std::string date_text(std::uint64_t realtime_ns) {
  const auto seconds = static_cast<std::time_t>(realtime_ns / 1'000'000'000);
  std::tm local{};
  if (localtime_r(&seconds, &local) == nullptr) return "at an impossible date";
  return fmt::format("{:%Y-%m-%d %H:%M:%S}", local);
}

std::string joined(std::span<const std::string> parts, std::string_view separator) {
  return fmt::format("{}", fmt::join(parts.begin(), parts.end(), separator));
}

std::string truncated(std::string_view text, std::size_t width) {
  if (width_of(text) <= width) return std::string(text);
  if (width <= kCut.size()) return std::string(kCut.substr(0, width));
  return fmt::format("{}{}", text.substr(0, byte_of(text, width - kCut.size())), kCut);
}

std::string shortened(std::string_view text, std::size_t width) {
  const std::size_t length = width_of(text);
  if (length <= width) return std::string(text);
  if (width <= kCut.size()) return std::string(kCut.substr(0, width));
  const std::size_t tail = (width - kCut.size()) / 3;
  const std::size_t head = width - kCut.size() - tail;
  return fmt::format("{}{}{}", text.substr(0, byte_of(text, head)), kCut, text.substr(byte_of(text, length - tail)));
}

std::string wrapped(std::string_view text, std::size_t indent) {
  std::string out;
  std::size_t column = 0;
  std::size_t line_start_column = 0;
  while (!text.empty()) {
    const std::size_t spaces = std::min(text.find_first_not_of(' '), text.size());
    const std::size_t end = word_end(text, spaces);
    const std::string_view gap = text.substr(0, spaces);
    const std::string_view word = text.substr(spaces, end - spaces);
    if (column > line_start_column && column + gap.size() + width_of(word) > kColumns) {
      out += '\n';
      out.append(indent, ' ');
      column = line_start_column = indent;
    } else {
      out += gap;
      column += gap.size();
    }
    out += word;
    column += width_of(word);
    text.remove_prefix(end);
  }
  return out;
}

std::string bullet(std::string_view text) {
  return wrapped(std::string(kBulletIndent, ' ') + printable(text), kBulletIndent + 2) + '\n';
}

std::string printable(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = utf8_bytes(text.substr(at));
    const auto lead = static_cast<unsigned char>(text[at]);
    // The C0 and C1 control characters; the latter are C2 80 to C2 9F.
    const bool control = lead < 0x20 || lead == 0x7f || (lead == 0xc2 && length == 2 && text[at + 1] < '\xa0');
    if (length == 0 || control) {
      out += '?';
      at += std::max<std::size_t>(length, 1);
    } else {
      out += text.substr(at, length);
      at += length;
    }
  }
  return out;
}

std::size_t utf8_bytes(std::string_view text) {
  if (text.empty()) return 0;
  const auto lead = static_cast<unsigned char>(text.front());
  if (lead < 0x80) return 1;
  if (lead < 0xc2 || lead > 0xf4) return 0;
  const std::size_t length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (length > text.size()) return 0;
  // Overlong forms, surrogates, and what lies beyond U+10FFFF show in the second byte.
  const auto second = static_cast<unsigned char>(text[1]);
  if ((lead == 0xe0 && second < 0xa0) || (lead == 0xed && second > 0x9f)) return 0;
  if ((lead == 0xf0 && second < 0x90) || (lead == 0xf4 && second > 0x8f)) return 0;
  for (std::size_t at = 1; at < length; ++at) {
    if (starts_code_point(text[at])) return 0;
  }
  return length;
}

std::size_t width_of(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), starts_code_point));
}

}  // namespace plumbline::tools
