// Is one tensor another with its rows or columns in other places? A row is what the first dimension counts, a column
// what the second one does.
#pragma once

#include <optional>
#include <string>

#include "reader/checkpoint/checkpoint.hpp"

namespace plumbline::checks {

// Two dimensions, exchanged.
bool is_transposed(const reader::Tensor& subject, const reader::Tensor& reference);

// In words, "64 of 128 rows are in other places: row 0 is the reference's row 64"; nothing when it is not so. Shapes
// and element types agree.
std::optional<std::string> rows_permuted(const reader::Tensor& subject, const reader::Tensor& reference);
std::optional<std::string> columns_permuted(const reader::Tensor& subject, const reader::Tensor& reference);

}  // namespace plumbline::checks
