// The size of a memory request as a product of the run's dimensions: "batch x length x vocabulary x 4 B".
//
//   Formula formula{{{"batch", 1}, {"length", 2}}, 1, 2, SizeRounding::kNone};
//   formula.bytes_at({{"batch", 4}, {"length", 1024}});  // 8,388,608
//   formula.text();                                      // "batch x length^2 x 2 B"
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace plumbline::checks {

struct Dimension {
  std::string name;
  std::uint64_t value = 0;

  bool operator==(const Dimension&) const = default;
};

// The value of a name, the last one when it is there more than once.
std::optional<std::uint64_t> value_of(const std::vector<Dimension>& dimensions, std::string_view name);

// Dimensions that grow with the longest row of a batch.
inline constexpr std::string_view kLength = "length";
inline constexpr std::string_view kTokens = "tokens";
inline constexpr std::string_view kRows = "rows";  // not recorded, found from the size itself

// What an allocator makes of a request. The CUDA caching allocator rounds what it hands out up to 512 bytes, and what
// it asks of the driver up to 2 MiB (less than that to 2 MiB or 20 MiB, so that small requests share a segment).
enum class SizeRounding : std::uint8_t { kNone, kBlock, kSegment };

std::uint64_t rounded(std::uint64_t bytes, SizeRounding rounding);
// How far two requests may lie apart and become the same.
std::uint64_t width_of(SizeRounding rounding);

struct Factor {
  std::string name;
  unsigned power = 1;

  bool operator==(const Factor&) const = default;
};

struct Formula {
  std::vector<Factor> factors;
  unsigned times = 1;  // tensors of that size in one request: 3 of a fused query, key and value
  unsigned element_bytes = 1;
  SizeRounding rounding = SizeRounding::kNone;

  // Nothing when a dimension is not there, or the product does not fit 64 bits.
  std::optional<std::uint64_t> bytes_at(const std::vector<Dimension>& dimensions) const;
  // 0: does not grow with the row length, 1: linear, 2: quadratic …
  unsigned row_power() const;
  std::string text() const;
  // With the numbers: "4 x 8192 x 151936 x 4 B".
  std::string text_with(const std::vector<Dimension>& dimensions) const;
};

// "does not grow with the row length", "grows linearly with the row length" …
std::string growth_text(const Formula& formula);

// a·b, or nothing when it does not fit.
std::optional<std::uint64_t> product(std::uint64_t a, std::uint64_t b);

}  // namespace plumbline::checks
