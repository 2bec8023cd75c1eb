// Numbers, dates and texts as a person reads them on a terminal.
//
//   count_text(1234567)           "1,234,567"
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "checks/words.hpp"

namespace plumbline::tools {

using checks::bytes_text;
using checks::duration_text;
using checks::ranks_phrase;
using checks::ranks_text;

// Output fits this many columns: what a login node's terminal or a mail shows without wrapping.
inline constexpr std::size_t kColumns = 100;

// 1234567 → "1,234,567".
std::string count_text(std::uint64_t count);
// "1 rank", "2 ranks", "3 processes": `many` is the plural where it is not `one` with an s.
std::string plural(std::uint64_t count, std::string_view one, std::string_view many = {});
// Wall-clock time of the machine that reads: "2025-11-29 19:16:03".
std::string date_text(std::uint64_t realtime_ns);
std::string joined(std::span<const std::string> parts, std::string_view separator);
// At most `width` columns, cut in the middle (the ends of a name tell most), with two dots there.
std::string shortened(std::string_view text, std::size_t width);
// At most `width` columns, cut at the end, with two dots there.
std::string truncated(std::string_view text, std::size_t width);
// Breaks at spaces so that no line is longer than kColumns; lines after the first start with `indent` spaces.
std::string wrapped(std::string_view text, std::size_t indent);
// A line below a verdict or finding, broken as wrapped() does and printable.
inline constexpr std::size_t kBulletIndent = 6;
std::string bullet(std::string_view text);
// Control characters and broken UTF-8, which a hostile or damaged trace may carry, become '?': they never reach the
// terminal.
std::string printable(std::string_view text);
// Length of the UTF-8 code point that `text` starts with, 0 when it starts with none.
std::size_t utf8_bytes(std::string_view text);
// Columns that a UTF-8 text takes, every code point counted as one.
std::size_t width_of(std::string_view text);

}  // namespace plumbline::tools
