#include "checks/size_formula.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace plumbline::checks {
namespace {

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;

std::uint64_t up_to(std::uint64_t bytes, std::uint64_t multiple) {
  const std::uint64_t over = bytes % multiple;
  return over == 0 || bytes > std::numeric_limits<std::uint64_t>::max() - multiple ? bytes : bytes + multiple - over;
}

std::string rounding_text(SizeRounding rounding) {
  switch (rounding) {
    case SizeRounding::kNone:
      return {};
    case SizeRounding::kBlock:
      return ", rounded up to 512 B";
    case SizeRounding::kSegment:
      return ", rounded up to 2 MiB";
  }
  return {};
}

}  // namespace

std::optional<std::uint64_t> value_of(const std::vector<Dimension>& dimensions, std::string_view name) {
  const auto found = std::find_if(dimensions.rbegin(), dimensions.rend(),
                                  [&](const Dimension& dimension) { return dimension.name == name; });
  if (found == dimensions.rend()) return std::nullopt;
  return found->value;
}

std::uint64_t rounded(std::uint64_t bytes, SizeRounding rounding) {
  switch (rounding) {
    case SizeRounding::kNone:
      return bytes;
    case SizeRounding::kBlock:
      return up_to(bytes, 512);
    case SizeRounding::kSegment:
      if (bytes <= kMiB) return 2 * kMiB;
      if (bytes < 10 * kMiB) return 20 * kMiB;
      return up_to(bytes, 2 * kMiB);
  }
  return bytes;
}

std::uint64_t width_of(SizeRounding rounding) {
  switch (rounding) {
    case SizeRounding::kNone:
      return 1;
    case SizeRounding::kBlock:
      return 512;
    case SizeRounding::kSegment:
      return 2 * kMiB;
  }
  return 1;
}

std::optional<std::uint64_t> product(std::uint64_t a, std::uint64_t b) {
  if (a != 0 && b > std::numeric_limits<std::uint64_t>::max() / a) return std::nullopt;
  return a * b;
}

std::optional<std::uint64_t> Formula::bytes_at(const std::vector<Dimension>& dimensions) const {
  std::optional<std::uint64_t> bytes = std::uint64_t{times} * element_bytes;
  for (const Factor& factor : factors) {
    const auto value = value_of(dimensions, factor.name);
    if (!value) return std::nullopt;
    for (unsigned power = 0; power < factor.power && bytes; ++power) bytes = product(*bytes, *value);
  }
  if (!bytes) return std::nullopt;
  return rounded(*bytes, rounding);
}

unsigned Formula::row_power() const {
  unsigned power = 0;
  for (const Factor& factor : factors) {
    if (factor.name == kLength || factor.name == kTokens || factor.name == kRows) power += factor.power;
  }
  return power;
}

std::string Formula::text() const {
  std::string text = times == 1 ? "" : fmt::format("{} x ", times);
  for (const Factor& factor : factors) {
    text += factor.power == 1 ? factor.name : fmt::format("{}^{}", factor.name, factor.power);
    text += " x ";
  }
  return text + fmt::format("{} B", element_bytes) + rounding_text(rounding);
}

std::string Formula::text_with(const std::vector<Dimension>& dimensions) const {
  std::string text = times == 1 ? "" : fmt::format("{} x ", times);
  for (const Factor& factor : factors) {
    const auto value = value_of(dimensions, factor.name);
    text += value ? std::to_string(*value) : "?";
    if (factor.power > 1) text += fmt::format("^{}", factor.power);
    text += " x ";
  }
  return text + fmt::format("{} B", element_bytes) + rounding_text(rounding);
}

std::string growth_text(const Formula& formula) {
  switch (formula.row_power()) {
    case 0:
      return "does not grow with the row length";
    case 1:
      return "grows linearly with the row length";
    case 2:
      return "grows with the square of the row length";
    default:
      return fmt::format("grows with power {} of the row length", formula.row_power());
  }
}

}  // namespace plumbline::checks
