#include "checks/tensor_relation.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "reader/checkpoint/tensor_digest.hpp"
#include "reader/checkpoint/testing/checkpoint_files.hpp"

namespace plumbline::checks {
namespace {

using reader::DType;
using reader::testing::checkpoint_of;
using reader::testing::tensor;
using reader::testing::tensor_of;
using reader::testing::TensorData;

TensorRelation of(TensorData subject, TensorData reference) {
  const auto mine = checkpoint_of({std::move(subject)});
  const auto theirs = checkpoint_of({std::move(reference)});
  return relate(mine.tensors[0], theirs.tensors[0]);
}

std::vector<float> values_of(std::size_t count, unsigned seed) {
  const TensorData data = tensor("", {count}, seed);
  std::vector<float> values(count);
  read_floats(data.dtype, data.bytes, 0, values);
  return values;
}

// Rows of 8 in the order given.
std::vector<float> rows(const std::vector<float>& values, const std::vector<std::size_t>& order) {
  std::vector<float> result;
  for (const std::size_t row : order) {
    const auto from = values.begin() + static_cast<std::ptrdiff_t>(8 * row);
    result.insert(result.end(), from, from + 8);
  }
  return result;
}

TEST(TensorRelationTest, EqualBits) {
  EXPECT_EQ(of(tensor("w", {6, 8}, 1), tensor("w", {6, 8}, 1)).kind, Relation::kEqual);
  EXPECT_TRUE(of(tensor("w", {0}, 1), tensor("w", {0}, 1)).words.empty());
}

TEST(TensorRelationTest, NaNEqualsItself) {
  const std::vector<float> nans(4, std::numeric_limits<float>::quiet_NaN());
  EXPECT_EQ(of(tensor_of("w", {4}, nans), tensor_of("w", {4}, nans)).kind, Relation::kEqual);
}

TEST(TensorRelationTest, CastsAreNamed) {
  for (const DType narrow : {DType::kBF16, DType::kF16, DType::kF8E4M3}) {
    const TensorRelation relation = of(tensor("w", {6, 8}, 1, narrow), tensor("w", {6, 8}, 1));
    EXPECT_EQ(relation.kind, Relation::kCast);
    EXPECT_EQ(relation.words, "F32 became " + std::string(name_of(narrow)) + ", rounded to the nearest");
  }
  const auto wide = tensor("w", {6, 8}, 1, DType::kBF16);
  std::vector<float> widened(48);
  read_floats(DType::kBF16, wide.bytes, 0, widened);
  EXPECT_EQ(of(tensor_of("w", {6, 8}, widened), wide).kind, Relation::kCast);
}

TEST(TensorRelationTest, BitsThatWereCutOffAreNoRounding) {
  std::vector<float> values = values_of(64, 1);
  TensorData cut = tensor_of("w", {64}, values, DType::kBF16);
  for (std::size_t i = 0; i < values.size(); ++i) {
    cut.bytes[2 * i] = reinterpret_cast<const std::byte*>(values.data())[4 * i + 2];
    cut.bytes[2 * i + 1] = reinterpret_cast<const std::byte*>(values.data())[4 * i + 3];
  }
  EXPECT_EQ(of(cut, tensor_of("w", {64}, values)).kind, Relation::kTruncated);
}

TEST(TensorRelationTest, ValuesThatWentThroughANarrowType) {
  std::vector<float> values = values_of(64, 1);
  const TensorData narrow = tensor_of("", {64}, values, DType::kBF16);
  std::vector<float> back(64);
  read_floats(DType::kBF16, narrow.bytes, 0, back);
  const TensorRelation relation = of(tensor_of("w", {64}, back), tensor_of("w", {64}, values));
  EXPECT_EQ(relation.kind, Relation::kRounded);
  EXPECT_NE(relation.words.find("went through BF16"), std::string::npos);
}

TEST(TensorRelationTest, TransposedSquareOrNot) {
  const std::vector<float> values = values_of(48, 1);
  std::vector<float> transposed(48);
  for (std::size_t i = 0; i < 6; ++i) {
    for (std::size_t j = 0; j < 8; ++j) transposed[j * 6 + i] = values[i * 8 + j];
  }
  EXPECT_EQ(of(tensor_of("w", {8, 6}, transposed), tensor_of("w", {6, 8}, values)).kind, Relation::kTransposed);
  const std::vector<float> square = {1, 2, 3, 4};
  EXPECT_EQ(of(tensor_of("w", {2, 2}, {1, 3, 2, 4}), tensor_of("w", {2, 2}, square)).kind, Relation::kTransposed);
}

TEST(TensorRelationTest, PermutedRowsAndColumns) {
  const std::vector<float> values = values_of(48, 1);
  const TensorRelation moved =
      of(tensor_of("w", {6, 8}, rows(values, {3, 1, 2, 0, 4, 5})), tensor_of("w", {6, 8}, values));
  EXPECT_EQ(moved.kind, Relation::kRowsPermuted);
  EXPECT_EQ(moved.words, "2 of 6 rows are in other places: row 0 is the reference's row 3");
  std::vector<float> rotated = values;
  for (std::size_t i = 0; i < 6; ++i) {
    std::rotate(rotated.begin() + 8 * static_cast<std::ptrdiff_t>(i),
                rotated.begin() + 8 * static_cast<std::ptrdiff_t>(i) + 1,
                rotated.begin() + 8 * static_cast<std::ptrdiff_t>(i) + 8);
  }
  EXPECT_EQ(of(tensor_of("w", {6, 8}, rotated), tensor_of("w", {6, 8}, values)).kind, Relation::kColumnsPermuted);
  EXPECT_EQ(of(tensor_of("w", {6, 8}, rows(values, {0, 1, 2, 2, 4, 5})), tensor_of("w", {6, 8}, values)).kind,
            Relation::kDiffers)
      << "a row that is there twice in place of another is no permutation";
}

TEST(TensorRelationTest, NaNZeroAndEmpty) {
  const std::vector<float> values = values_of(48, 1);
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(of(tensor_of("w", {6, 8}, std::vector<float>(48, nan)), tensor_of("w", {6, 8}, values)).kind,
            Relation::kNaN);
  std::vector<float> part = values;
  for (std::size_t i = 16; i < 32; ++i) part[i] = nan;
  const TensorRelation some = of(tensor_of("w", {6, 8}, part), tensor_of("w", {6, 8}, values));
  EXPECT_EQ(some.kind, Relation::kSomeNaN);
  EXPECT_EQ(some.words, "16 of 48 elements are NaN, in rows 2-3");
  EXPECT_EQ(of(tensor_of("w", {6, 8}, std::vector<float>(48, 0)), tensor_of("w", {6, 8}, values)).kind,
            Relation::kZero);
  EXPECT_EQ(of(tensor_of("w", {0}, {}), tensor_of("w", {6, 8}, values)).kind, Relation::kEmpty);
}

TEST(TensorRelationTest, ScaledNearAndUnrelated) {
  std::vector<float> values = values_of(64, 1);
  std::vector<float> doubled = values;
  for (float& value : doubled) value *= 2;
  const TensorRelation scaled = of(tensor_of("w", {64}, doubled), tensor_of("w", {64}, values));
  EXPECT_EQ(scaled.kind, Relation::kScaled);
  EXPECT_EQ(scaled.words, "every element is 2 times the reference's");
  std::vector<float> near = values;
  near[5] += 0.001F;
  const TensorRelation differs = of(tensor_of("w", {64}, near), tensor_of("w", {64}, values));
  EXPECT_EQ(differs.kind, Relation::kDiffers);
  EXPECT_EQ(differs.different, 1U);
  EXPECT_NE(differs.words.find("the first is element 5"), std::string::npos);
  EXPECT_EQ(of(tensor("w", {64, 64}, 2), tensor("w", {64, 64}, 1)).kind, Relation::kUnrelated);
}

TEST(TensorRelationTest, OtherShapes) {
  const std::vector<float> values = values_of(48, 1);
  EXPECT_EQ(of(tensor_of("w", {4, 12}, values), tensor_of("w", {6, 8}, values)).kind, Relation::kReshaped);
  EXPECT_EQ(of(tensor("w", {4, 4}, 1), tensor("w", {6, 8}, 1)).words, "shape [4, 4], the reference has [6, 8]");
}

TEST(TensorRelationTest, ASampleIsComparedAtItsPlaces) {
  const std::vector<float> values = values_of(100, 1);
  const auto reference = checkpoint_of({tensor_of("w", {10, 10}, values)});
  auto subject = checkpoint_of({tensor_of("w", {2}, {values[7], values[93]})});
  subject.tensors[0].shape = {10, 10};
  subject.tensors[0].indices = {7, 93};
  EXPECT_EQ(relate(subject.tensors[0], reference.tensors[0]).kind, Relation::kEqual);
  subject.tensors[0].indices = {7, 94};
  const TensorRelation relation = relate(subject.tensors[0], reference.tensors[0]);
  EXPECT_EQ(relation.kind, Relation::kDiffers);
  EXPECT_EQ(relation.words.find("of 2 sampled elements: 1 of 2 elements differ"), 0U) << relation.words;
  subject.tensors[0].shape = {5, 20};
  EXPECT_EQ(relate(subject.tensors[0], reference.tensors[0]).kind, Relation::kShape);
}

TEST(TensorRelationTest, ADigestIsComparedWithTheReferencesOwn) {
  const auto reference = checkpoint_of({tensor("w", {10, 10}, 1)});
  auto subject = checkpoint_of({tensor("w", {10, 10}, 1, DType::kBF16)});
  reader::Tensor& mine = subject.tensors[0];
  using Kind = reader::TensorDigest::Kind;
  mine.digest = reader::TensorDigest{Kind::kXxh3, *digest_as(DType::kBF16, Kind::kXxh3, mine), 0, 0};
  mine.bytes = {};
  EXPECT_EQ(relate(mine, reference.tensors[0]).kind, Relation::kCast);
  mine.digest->hash ^= 1;
  EXPECT_EQ(relate(mine, reference.tensors[0]).kind, Relation::kDiffers);
  mine.digest->nans = 100;
  EXPECT_EQ(relate(mine, reference.tensors[0]).kind, Relation::kNaN);
}

}  // namespace
}  // namespace plumbline::checks
