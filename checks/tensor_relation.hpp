// What one tensor is of another: the same bit for bit, a cast, a transposition, a permutation, or something else.
//
//   const TensorRelation relation = relate(subject, reference);
//   if (relation.kind == Relation::kRowsPermuted) say(relation.words);   // "64 of 128 rows are in other places: …"
//
// Equality is exact, and so are all relations but kScaled, kDiffers and kUnrelated, which only describe how values
// differ.
#pragma once

#include <cstdint>
#include <string>

#include "reader/checkpoint/checkpoint.hpp"

namespace plumbline::checks {

enum class Relation : std::uint8_t {
  kEqual,
  kCast,       // another element type, each value rounded to the nearest
  kTruncated,  // bfloat16 of a wider type, low bits cut off
  kRounded,    // the same element type, but the values went through a narrower one
  kReshaped,   // the same bytes under another shape
  kTransposed,
  kRowsPermuted,
  kColumnsPermuted,
  kEmpty,      // no element, where the reference has some
  kShape,      // another shape, and none of the above
  kNaN,        // all NaN
  kSomeNaN,    // NaN in places where the reference has none
  kZero,       // all zero
  kScaled,     // each value is the reference's times one factor, within rounding
  kDiffers,    // near the reference's values
  kUnrelated,  // nothing in common with the reference's values
  kExchanged,  // what belongs to another name: told by who knows all of them
};

struct TensorRelation {
  Relation kind = Relation::kEqual;
  std::string words;            // empty: equal
  std::uint64_t different = 0;  // elements; of the last kinds
};

TensorRelation relate(const reader::Tensor& subject, const reader::Tensor& reference);

bool equal_bits(const reader::Tensor& a, const reader::Tensor& b);

}  // namespace plumbline::checks
