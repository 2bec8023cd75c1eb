// Elements a block at a time, in columns of their own: what a compiler needs to compute several of them at once.
#pragma once

#include <algorithm>
#include <array>
#include <span>

#include "checks/optimizer_rules/rule.hpp"

namespace plumbline::checks {

constexpr std::size_t kBlockElements = 256;

using Column = std::array<double, kBlockElements>;

struct BoundedColumn {
  Column value;
  Column error;

  void set(std::size_t i, Bounded x) {
    value[i] = x.value;
    error[i] = x.error;
  }
  void store(std::span<Bounded> to) const {
    for (std::size_t i = 0; i < to.size(); ++i) to[i] = {value[i], error[i]};
  }
};

// Elements from `first` on; zeros where there are none.
inline void fill(Column& column, std::span<const double> from, std::size_t first) {
  const std::size_t there = std::min(kBlockElements, from.size() - std::min(first, from.size()));
  for (std::size_t i = 0; i < there; ++i) column[i] = from[first + i];
  for (std::size_t i = there; i < kBlockElements; ++i) column[i] = 0;
}

inline std::span<Bounded> block_of(std::vector<Bounded>& elements, std::size_t first) {
  return std::span(elements).subspan(first, std::min(kBlockElements, elements.size() - first));
}

}  // namespace plumbline::checks
