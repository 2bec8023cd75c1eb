#include "checks/words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace plumbline::checks {

std::string bytes_text(std::uint64_t bytes) {
  constexpr std::array kUnits = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  if (bytes < 1024) return fmt::format("{} B", bytes);
  double value = static_cast<double>(bytes) / 1024;
  std::size_t unit = 0;
  // 1023.95 would be shown as 1024.0 of the smaller unit.
  while (value >= 1023.95 && unit + 1 < kUnits.size()) {
    value /= 1024;
    ++unit;
  }
  return fmt::format("{:.1f} {}", value, kUnits[unit]);
}

std::string duration_text(std::uint64_t nanoseconds) {
  const double seconds = static_cast<double>(nanoseconds) / 1e9;
  if (nanoseconds < 1000) return fmt::format("{} ns", nanoseconds);
  if (seconds < 0.99995e-3) return fmt::format("{:.1f} us", seconds * 1e6);
  if (seconds < 0.99995) return fmt::format("{:.1f} ms", seconds * 1e3);
  if (seconds < 119.95) return fmt::format("{:.1f} s", seconds);
  const std::uint64_t whole = (nanoseconds + 500'000'000) / 1'000'000'000;
  if (whole < 3600) return fmt::format("{} min {:02} s", whole / 60, whole % 60);
  if (whole < 86400) return fmt::format("{} h {:02} min", whole / 3600, whole / 60 % 60);
  return fmt::format("{} d {:02} h", whole / 86400, whole / 3600 % 24);
}

std::string ranks_text(std::vector<std::int32_t> ranks, std::size_t most) {
  std::sort(ranks.begin(), ranks.end());
  ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
  std::string text;
  std::size_t intervals = 0;
  for (std::size_t first = 0; first < ranks.size(); ++intervals) {
    if (intervals == most) return text + fmt::format(",.. ({} in all)", ranks.size());
    std::size_t last = first;
    while (ranks[first] >= 0 && last + 1 < ranks.size() && ranks[last + 1] == ranks[last] + 1) ++last;
    if (intervals > 0) text += ',';
    text += ranks[first] < 0 ? "?" : std::to_string(ranks[first]);
    if (last > first) text += (last == first + 1 ? ',' : '-') + std::to_string(ranks[last]);
    first = last + 1;
  }
  return text;
}

std::string ranks_phrase(const std::vector<std::int32_t>& ranks) {
  std::vector<std::int32_t> known;
  for (const std::int32_t rank : ranks) {
    if (rank >= 0) known.push_back(rank);
  }
  const std::size_t unknown = ranks.size() - known.size();
  std::string others = unknown == 1 ? "a process without a rank" : fmt::format("{} processes without a rank", unknown);
  if (known.empty() && unknown > 0) return others;
  return (ranks.size() - unknown == 1 ? "rank " : "ranks ") + ranks_text(known) + (unknown > 0 ? " and " + others : "");
}

}  // namespace plumbline::checks
