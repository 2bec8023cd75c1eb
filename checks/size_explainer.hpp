// Which products of the run's dimensions explain the sizes of memory requests, over all steps and ranks at once.
//
//   const std::vector<Dimension> model = {{"vocabulary", 151936}, {"hidden", 4096}};
//   const std::vector<AskedSizes> seen = {{{{"batch", 4}, {"length", 8192}}, {19914555392}}};
//   explain_sizes(model, seen, {SizeRounding::kNone}).formulas[0].text();  // "batch x length x vocabulary x 4 B"
//
// A formula is given only when it gives a size of every observation exactly. Formulas that the observations cannot tell
// apart are all given, the simplest first; one that so few observations would fit by chance is not given at all.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "checks/size_formula.hpp"

namespace plumbline::checks {

// What was asked for at one time, with the shape of the batch then.
struct AskedSizes {
  std::vector<Dimension> shape;      // what varies: batch, length, tokens; may be empty
  std::vector<std::uint64_t> sizes;  // requests, one of which is the one looked for; of a logged request: that one
  std::uint64_t tolerance = 0;       // a printed "45.64 GiB" is known to half of its last digit
  std::int32_t rank = -1;
  std::int64_t step = -1;
};

// Formulas that give the same size whatever the batch: names for one number.
struct SizeClass {
  Formula formula;              // the simplest
  std::vector<Formula> others;  // as simple
};

struct SizeExplanation {
  std::vector<SizeClass> classes;  // that the observations cannot tell apart, simplest first
  std::uint64_t more = 0;          // further ones, not listed
  std::size_t observations = 0;
  // Of a fit without a recorded row length: the rows of each observation, by the first class.
  std::vector<std::uint64_t> rows;
};

// `roundings`: what the allocator may have done to the sizes, from none to most; the least that fits is taken.
SizeExplanation explain_sizes(const std::vector<Dimension>& fixed, std::span<const AskedSizes> observations,
                              std::span<const SizeRounding> roundings);

// For requests whose row length is not known: sizes that are whole numbers of rows (or squares of them) of a product of
// fixed dimensions that is odd enough not to divide them by chance.
SizeExplanation explain_rows(const std::vector<Dimension>& fixed, std::span<const AskedSizes> observations,
                             std::span<const SizeRounding> roundings);

}  // namespace plumbline::checks
