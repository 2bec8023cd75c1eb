#include "checks/tensor_permutations.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <unordered_map>
#include <vector>

namespace plumbline::checks {
namespace {

using reader::Tensor;

std::uint64_t mix(std::uint64_t hash, std::uint64_t value) {
  hash = (hash ^ value) * 0x9e3779b97f4a7c15U;
  return hash ^ hash >> 29;
}

// Elements of up to eight bytes as whole numbers.
std::uint64_t bits_at(const std::byte* from, std::size_t size) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, from, size);
  return bits;
}

std::vector<std::uint64_t> row_hashes(const Tensor& tensor) {
  const std::size_t rows = tensor.shape[0];
  const std::size_t bytes = tensor.bytes.size() / rows;
  std::vector<std::uint64_t> hashes(rows, bytes);
  for (std::size_t row = 0; row < rows; ++row) {
    const std::byte* from = tensor.bytes.data() + row * bytes;
    std::size_t at = 0;
    for (; at + 8 <= bytes; at += 8) hashes[row] = mix(hashes[row], bits_at(from + at, 8));
    if (at < bytes) hashes[row] = mix(hashes[row], bits_at(from + at, bytes - at));
  }
  return hashes;
}

std::vector<std::uint64_t> column_hashes(const Tensor& tensor) {
  const std::size_t rows = tensor.shape[0];
  const std::size_t columns = tensor.shape[1];
  const std::size_t cell = tensor.bytes.size() / rows / columns;
  std::vector<std::uint64_t> hashes(columns, rows);
  for (std::size_t row = 0; row < rows; ++row) {
    const std::byte* from = tensor.bytes.data() + row * columns * cell;
    for (std::size_t column = 0; column < columns; ++column, from += cell) {
      for (std::size_t at = 0; at < cell; at += 8) {
        hashes[column] = mix(hashes[column], bits_at(from + at, std::min<std::size_t>(8, cell - at)));
      }
    }
  }
  return hashes;
}

// How the lines of the subject lie in the reference; nothing unless both have the same ones, at least one of them
// moved.
std::optional<std::string> moved(const std::vector<std::uint64_t>& subject, const std::vector<std::uint64_t>& reference,
                                 std::string_view what) {
  std::unordered_map<std::uint64_t, std::vector<std::size_t>> places;  // last first, so that the first is taken first
  for (std::size_t i = reference.size(); i > 0; --i) places[reference[i - 1]].push_back(i - 1);
  std::vector<std::size_t> from(subject.size());
  for (std::size_t i = 0; i < subject.size(); ++i) {
    const auto found = places.find(subject[i]);
    if (found == places.end() || found->second.empty()) return std::nullopt;
    from[i] = found->second.back();
    found->second.pop_back();
  }
  std::size_t away = 0;
  std::size_t first = subject.size();
  for (std::size_t i = 0; i < subject.size(); ++i) {
    if (subject[i] == reference[i]) continue;
    ++away;
    first = std::min(first, i);
  }
  if (away == 0) return std::nullopt;
  return fmt::format("{} of {} {}s are in other places: {} {} is the reference's {} {}", away, subject.size(), what,
                     what, first, what, from[first]);
}

}  // namespace

bool is_transposed(const Tensor& subject, const Tensor& reference) {
  if (subject.shape.size() != 2 || reference.shape.size() != 2 || subject.dtype != reference.dtype) return false;
  const std::size_t rows = subject.shape[0];
  const std::size_t columns = subject.shape[1];
  if (reference.shape[0] != columns || reference.shape[1] != rows) return false;
  const std::size_t size = size_of(subject.dtype);
  // Blocks that fit a cache, since one of both is read across its rows.
  constexpr std::size_t kTile = 32;
  for (std::size_t top = 0; top < rows; top += kTile) {
    for (std::size_t left = 0; left < columns; left += kTile) {
      for (std::size_t row = top; row < std::min(rows, top + kTile); ++row) {
        for (std::size_t column = left; column < std::min(columns, left + kTile); ++column) {
          if (bits_at(subject.bytes.data() + (row * columns + column) * size, size) !=
              bits_at(reference.bytes.data() + (column * rows + row) * size, size)) {
            return false;
          }
        }
      }
    }
  }
  return true;
}

std::optional<std::string> rows_permuted(const Tensor& subject, const Tensor& reference) {
  if (subject.shape.empty() || subject.shape[0] < 2 || subject.bytes.empty()) return std::nullopt;
  return moved(row_hashes(subject), row_hashes(reference), subject.shape.size() == 1 ? "element" : "row");
}

std::optional<std::string> columns_permuted(const Tensor& subject, const Tensor& reference) {
  if (subject.shape.size() < 2 || subject.shape[1] < 2 || subject.bytes.empty()) return std::nullopt;
  return moved(column_hashes(subject), column_hashes(reference), "column");
}

}  // namespace plumbline::checks
