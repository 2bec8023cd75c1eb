#include "checks/raw_tensor.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <numeric>
#include <optional>

#include "checks/capture_loader.hpp"
#include "checks/testing/capture_job.hpp"
#include "reader/testing/records.hpp"

namespace plumbline::checks {
namespace {

using recorder::Dtype;

constexpr std::size_t kPart = recorder::CaptureWriter::kPartBytes;
constexpr std::size_t kLarge = kPart / sizeof(float) * 2 + 100;

std::vector<std::uint8_t> bytes_of(const std::vector<float>& values) {
  const auto* const begin = reinterpret_cast<const std::uint8_t*>(values.data());
  return {begin, begin + values.size() * sizeof(float)};
}

// A small tensor, a large one, and the large one with another last element.
class RawTensorTest : public ::testing::Test {
 protected:
  RawTensorTest() {
    large_.resize(kLarge);
    std::iota(large_.begin(), large_.end(), 0.0F);
    other_ = large_;
    other_.back() = -1;
    testing::CaptureJob job(directory_.path(), 0);
    job.tensor("grad", "small", 0, Dtype::kFloat32, {3}, bytes_of({1, 2, 3}));
    job.tensor("grad", "large", 0, Dtype::kFloat32, {kLarge}, bytes_of(large_));
    job.tensor("grad", "other", 0, Dtype::kFloat32, {kLarge}, bytes_of(other_));
    job.finish();
    auto captures = reader::RunCaptures::open(directory_.path());
    captures_.emplace(std::move(*captures));
  }

  const reader::Capture* capture(std::string_view name) const { return captures_->find("grad", 0, name, 0); }

  reader::testing::TempDir directory_;
  std::vector<float> large_, other_;
  std::optional<reader::RunCaptures> captures_;
};

TEST_F(RawTensorTest, AStreamGivesWhatMemoryHolds) {
  CaptureLoader loader(*captures_);
  const RawTensor held = loader.load(capture("large"));
  const RawTensor stream = loader.stream(capture("large"));
  EXPECT_EQ(held.count(), kLarge);
  EXPECT_EQ(stream.count(), kLarge);
  std::vector<double> a;
  std::vector<double> b;
  // Over the border of two parts, to the end, and back.
  for (const std::size_t first : {kPart / sizeof(float) - 10, kLarge - 20, std::size_t{5}}) {
    held.decode(first, 20, a);
    stream.decode(first, 20, b);
    EXPECT_EQ(a, b);
    EXPECT_EQ(b.front(), static_cast<double>(first));
  }
  EXPECT_TRUE(held == stream);
  EXPECT_FALSE(held == loader.stream(capture("other")));
  EXPECT_FALSE(held == loader.load(capture("small")));
  EXPECT_TRUE(stream.readable());
}

TEST_F(RawTensorTest, ASliceIsHeldAndCanBeWritten) {
  CaptureLoader loader(*captures_);
  RawTensor slice = loader.stream(capture("large")).slice(kPart / sizeof(float) - 1, 3);
  slice.store(1, 0.5);
  std::vector<double> values;
  slice.decode(0, 3, values);
  EXPECT_EQ(values, (std::vector<double>{kPart / 4 - 1.0, 0.5, kPart / 4 + 1.0}));
}

TEST_F(RawTensorTest, WhatCanNoLongerBeReadIsSaid) {
  CaptureLoader loader(*captures_);
  RawTensor stream = loader.stream(capture("large"));
  const std::string path = captures_->files().front().path();
  ASSERT_EQ(truncate(path.c_str(), 1000), 0);
  std::vector<double> values;
  stream.decode(kLarge - 5, 5, values);
  EXPECT_EQ(values, std::vector<double>(5, 0.0));
  EXPECT_FALSE(stream.readable());
  stream.hold();
  EXPECT_FALSE(stream.readable());
  EXPECT_EQ(stream.count(), kLarge);
}

TEST(RawTensor, ZerosAreZerosOfEitherSign) {
  EXPECT_TRUE(RawTensor().all_zero());
  EXPECT_TRUE(RawTensor(Dtype::kFloat32, bytes_of({0.0F, -0.0F})).all_zero());
  std::vector<float> late(10'000);
  late.back() = 1e-30F;
  EXPECT_FALSE(RawTensor(Dtype::kFloat32, bytes_of(late)).all_zero());
}

TEST(RawTensor, StoresInItsOwnDtype) {
  std::vector<double> values;
  RawTensor narrow(Dtype::kBfloat16, std::vector<std::uint8_t>(4));
  narrow.store(1, 1.00390625);  // between two bfloat16 numbers: to the even one
  narrow.decode(0, 2, values);
  EXPECT_EQ(values, (std::vector<double>{0, 1}));
  RawTensor wide(Dtype::kFloat64, std::vector<std::uint8_t>(8));
  wide.store(0, 0.1);
  wide.decode(0, 1, values);
  EXPECT_EQ(values, (std::vector<double>{0.1}));
  RawTensor half(Dtype::kFloat16, std::vector<std::uint8_t>(2));
  half.store(0, 1.0 / 3);
  half.decode(0, 1, values);
  EXPECT_EQ(values, (std::vector<double>{0.333251953125}));
}

TEST_F(RawTensorTest, TheLoaderTakesWhatIsNotThereForEmpty) {
  CaptureLoader loader(*captures_);
  EXPECT_FALSE(loader.load(nullptr).there());
  EXPECT_FALSE(loader.stream(nullptr).there());
  EXPECT_TRUE(std::isnan(loader.number(nullptr)));
  EXPECT_TRUE(std::isnan(loader.number(capture("small")))) << "three numbers";
  EXPECT_EQ(loader.values(capture("small")), (std::vector<double>{1, 2, 3}));
}

}  // namespace
}  // namespace plumbline::checks
