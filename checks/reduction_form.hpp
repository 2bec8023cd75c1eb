// What a reduction must give, element by element, and how far rounding may have led it away.
//
// Backends add in the dtype and in any order (rings, trees, pairwise halving). Every such sum of n numbers rounds at
// most n - 1 times, each time by at most u times a partial sum, and no partial sum is larger than the sum of the
// magnitudes: |result - sum| <= (n - 1) u (|x1| + … + |xn|), for any order (Higham, "Accuracy and Stability of
// Numerical Algorithms", section 4.2). A backend that adds in a wider type stays inside of it. docs/checks.md has the
// other operations.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "recorder/event.hpp"

namespace plumbline::checks {

// Captured elements: whole numbers as such, since doubles do not hold all of them.
struct Elements {
  bool is_whole = false;
  std::vector<double> real;
  std::vector<std::int64_t> whole;  // in the low bits, unsigned ones too

  std::size_t size() const { return is_whole ? whole.size() : real.size(); }
  std::string text(std::size_t i) const;
};
// False for dtypes that are no numbers of one part.
bool read_elements(recorder::Dtype dtype, std::span<const std::uint8_t> bytes, Elements& elements);

struct Form {
  bool judged = false;  // false: no closed form here (an overflow on the way, NaN in a maximum, an operation not known)
  double value = 0;
  double bound = 0;
  std::int64_t whole = 0;  // of whole numbers, which are exact
};

// `given`: what each rank put in at one place, of a sum of scaled parts times its factor.
Form closed_form(recorder::ReduceOp reduce, recorder::Dtype dtype, std::span<const double> given);
Form closed_form(recorder::ReduceOp reduce, recorder::Dtype dtype, std::span<const std::int64_t> given);

// Distance over the bound: up to 1 it is what it should be, infinite where nothing may differ and something does.
double excess(const Form& form, const Elements& got, std::size_t i);
std::string text_of(const Form& form, bool is_whole);

}  // namespace plumbline::checks
