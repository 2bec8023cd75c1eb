#include "checks/tensor_relation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "checks/tensor_casts.hpp"
#include "checks/tensor_permutations.hpp"
#include "reader/checkpoint/safetensors.hpp"
#include "reader/checkpoint/tensor_digest.hpp"

namespace plumbline::checks {
namespace {

using reader::Tensor;

// Below this correlation, over enough elements, values have nothing to do with each other.
constexpr double kUnrelated = 0.1;
constexpr std::uint64_t kEnough = 32;

// How the values of two tensors of one shape differ.
struct Differences {
  std::uint64_t all = 0;
  std::uint64_t different = 0;
  std::uint64_t first = 0;
  std::uint64_t nans = 0;       // of the subject
  std::uint64_t new_nans = 0;   // where the reference has none
  std::uint64_t first_nan = 0;  // of the new ones
  std::uint64_t last_nan = 0;
  std::uint64_t zeros = 0;  // of the subject
  std::uint64_t reference_zeros = 0;
  double largest = 0;
  double xx = 0, yy = 0, xy = 0, x = 0, y = 0;  // sums over pairs of finite values; x of the reference

  void add(double subject, double reference, bool same) {
    const std::uint64_t at = all++;
    zeros += subject == 0 ? 1U : 0U;
    reference_zeros += reference == 0 ? 1U : 0U;
    if (std::isnan(subject)) {
      ++nans;
      if (!std::isnan(reference)) {
        if (new_nans++ == 0) first_nan = at;
        last_nan = at;
      }
    }
    if (!same && different++ == 0) first = at;
    if (!std::isfinite(subject) || !std::isfinite(reference)) return;
    largest = std::max(largest, std::fabs(subject - reference));
    xx += reference * reference;
    yy += subject * subject;
    xy += reference * subject;
    x += reference;
    y += subject;
  }

  double correlation() const {
    const auto n = static_cast<double>(all);
    const double spread = (xx - x * x / n) * (yy - y * y / n);
    return spread > 0 ? (xy - x * y / n) / std::sqrt(spread) : 0;
  }
  double factor() const { return xx > 0 ? xy / xx : 0; }
};

Differences differences(const Tensor& subject, const Tensor& reference) {
  constexpr std::size_t kBlock = 2048;
  Differences result;
  std::array<float, kBlock> mine;
  std::array<float, kBlock> theirs;
  const std::size_t size = size_of(subject.dtype);
  const bool bits = subject.dtype == reference.dtype;
  const std::uint64_t all = subject.elements();
  for (std::uint64_t first = 0; first < all; first += kBlock) {
    const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(kBlock, all - first));
    read_floats(subject.dtype, subject.bytes, first, {mine.data(), count});
    read_floats(reference.dtype, reference.bytes, first, {theirs.data(), count});
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t at = (first + i) * size;
      const bool same =
          bits ? std::memcmp(subject.bytes.data() + at, reference.bytes.data() + at, size) == 0 : mine[i] == theirs[i];
      result.add(mine[i], theirs[i], same);
    }
  }
  return result;
}

// The first dimension's places that elements first … last belong to: "rows 100-199".
std::string rows_of(const Tensor& tensor, std::uint64_t first, std::uint64_t last) {
  if (tensor.shape.size() < 2) return fmt::format("elements {}-{}", first, last);
  const std::uint64_t row = std::max<std::uint64_t>(tensor.elements() / tensor.shape[0], 1);
  return fmt::format("rows {}-{}", first / row, last / row);
}

TensorRelation described(const Tensor& subject, const Differences& found) {
  if (found.nans == found.all) return {Relation::kNaN, "every element is NaN", found.different};
  if (found.new_nans > 0) {
    return {Relation::kSomeNaN,
            fmt::format("{} of {} elements are NaN, in {}", found.new_nans, found.all,
                        rows_of(subject, found.first_nan, found.last_nan)),
            found.different};
  }
  if (found.zeros == found.all) return {Relation::kZero, "every element is zero", found.different};
  const double correlation = found.correlation();
  const double factor = found.factor();
  constexpr double kExact = 1 - 1e-9;
  if (correlation > kExact && std::fabs(factor - 1) > 1e-3 && found.all >= kEnough) {
    return {Relation::kScaled, fmt::format("every element is {:.6g} times the reference's", factor), found.different};
  }
  const std::string counts = fmt::format("{} of {} elements differ, by up to {:.3g}; the first is element {}",
                                         found.different, found.all, found.largest, found.first);
  if (std::fabs(correlation) < kUnrelated && found.all >= kEnough) {
    return {Relation::kUnrelated,
            fmt::format("the values have nothing in common with the reference's (correlation {:.3f})", correlation),
            found.different};
  }
  return {Relation::kDiffers, counts, found.different};
}

TensorRelation of_other_shape(const Tensor& subject, const Tensor& reference) {
  const std::string shapes = fmt::format("shape {}, the reference has {}", reader::shape_text(subject.shape),
                                         reader::shape_text(reference.shape));
  if (!subject.indices.empty() || subject.digest) return {Relation::kShape, shapes, 0};
  if (subject.bytes.empty()) return {Relation::kEmpty, shapes, 0};
  if (is_transposed(subject, reference)) return {Relation::kTransposed, "transposed: " + shapes, 0};
  if (subject.dtype == reference.dtype && subject.bytes.size() == reference.bytes.size() &&
      equal_bits(subject, reference)) {
    return {Relation::kReshaped, "the same values under another shape: " + shapes, 0};
  }
  return {Relation::kShape, shapes, 0};
}

// The reference's elements at the places of a sample, in their own memory.
struct Sampled {
  Tensor tensor;
  std::vector<std::byte> bytes;
};

void sample(const Tensor& from, const std::vector<std::uint64_t>& indices, Sampled& to) {
  const std::size_t size = size_of(from.dtype);
  to.tensor = from;
  to.tensor.shape = {indices.size()};
  to.bytes.resize(indices.size() * size);
  for (std::size_t i = 0; i < indices.size(); ++i) {
    if (indices[i] < from.elements())
      std::memcpy(to.bytes.data() + i * size, from.bytes.data() + indices[i] * size, size);
  }
  to.tensor.bytes = to.bytes;
}

TensorRelation relate_sample(const Tensor& subject, const Tensor& reference) {
  Sampled mine{subject, {}};
  mine.tensor.shape = {subject.indices.size()};
  mine.tensor.indices.clear();
  Sampled theirs;
  sample(reference, subject.indices, theirs);
  TensorRelation relation = relate(mine.tensor, theirs.tensor);
  if (!relation.words.empty())
    relation.words = fmt::format("of {} sampled elements: {}", subject.indices.size(), relation.words);
  return relation;
}

TensorRelation relate_digest(const Tensor& subject, const Tensor& reference) {
  const reader::TensorDigest& digest = *subject.digest;
  if (digest_as(subject.dtype, digest.kind, reference) == digest.hash) {
    if (subject.dtype == reference.dtype) return {};
    return {Relation::kCast,
            fmt::format("{} became {}, rounded to the nearest", name_of(reference.dtype), name_of(subject.dtype)), 0};
  }
  const std::uint64_t all = reference.elements();
  if (digest.nans == all) return {Relation::kNaN, "every element is NaN", all};
  if (digest.zeros == all) return {Relation::kZero, "every element is zero", all};
  return {Relation::kDiffers, "its hash differs; its elements were not captured", 0};
}

}  // namespace

bool equal_bits(const Tensor& a, const Tensor& b) {
  return a.bytes.size() == b.bytes.size() &&
         (a.bytes.empty() || std::memcmp(a.bytes.data(), b.bytes.data(), a.bytes.size()) == 0);
}

TensorRelation relate(const Tensor& subject, const Tensor& reference) {
  if (subject.shape != reference.shape) return of_other_shape(subject, reference);
  if (subject.digest) return relate_digest(subject, reference);
  if (!subject.indices.empty()) return relate_sample(subject, reference);
  if (subject.dtype != reference.dtype) {
    const std::string types = fmt::format("{} became {}", name_of(reference.dtype), name_of(subject.dtype));
    if (is_cast_of(subject, reference)) return {Relation::kCast, types + ", rounded to the nearest", 0};
    if (is_truncation_of(subject, reference)) {
      return {Relation::kTruncated, types + ", with the low bits cut off and not rounded", 0};
    }
    TensorRelation relation = described(subject, differences(subject, reference));
    relation.words = types + "; " + relation.words;
    return relation;
  }
  if (equal_bits(subject, reference)) return {};
  if (is_transposed(subject, reference)) {
    return {Relation::kTransposed, "transposed: " + reader::shape_text(subject.shape) + " is square, so that it loads",
            0};
  }
  const Differences found = differences(subject, reference);
  if (found.nans == 0 && found.zeros != found.all) {
    if (const auto narrow = rounded_through(subject, reference)) {
      return {Relation::kRounded,
              fmt::format("the values went through {} ({} of {} elements differ)", name_of(*narrow), found.different,
                          found.all),
              found.different};
    }
    if (auto words = rows_permuted(subject, reference)) {
      return {Relation::kRowsPermuted, std::move(*words), found.different};
    }
    if (auto words = columns_permuted(subject, reference)) {
      return {Relation::kColumnsPermuted, std::move(*words), found.different};
    }
  }
  return described(subject, found);
}

}  // namespace plumbline::checks
