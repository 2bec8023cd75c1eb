#include "shim/torch/capture_tensor.hpp"

#include <gtest/gtest.h>

#include "recorder/capture_sample.hpp"
#include "shim/torch/testing/fake_host.hpp"
#include "shim/torch/testing/tensors.hpp"

namespace plumbline::shim::adapter {
namespace {

using recorder::CaptureAmount;
using recorder::CaptureHash;
using testing::bytes_of;
using testing::counted;
using testing::FakeHost;
using testing::KeptCapture;

CaptureTarget target() {
  CaptureTarget made;
  made.probe = "grad";
  made.name = "layer.weight";
  made.step = 5;
  made.detail = "{}";
  return made;
}

class AdapterCaptureTensor : public ::testing::Test {
 protected:
  KeptCapture capture(const at::Tensor& tensor, Interval interval = {}) {
    host_.captures.clear();
    EXPECT_TRUE(capture_tensor(tensor, target(), interval));
    return host_.captures.empty() ? KeptCapture{} : host_.captures.front();
  }
  FakeHost host_;
};

TEST_F(AdapterCaptureTensor, WholeUpToTheBytesThatAreWanted) {
  host_.wish = {24 * sizeof(float), 0, false, false};
  const at::Tensor tensor = counted({6, 4}).t();
  const auto kept = capture(tensor);
  EXPECT_EQ(kept.amount, CaptureAmount::kFull);
  EXPECT_EQ(kept.data, bytes_of(tensor));
  EXPECT_EQ(kept.shape, (std::vector<std::uint64_t>{4, 6}));
  EXPECT_EQ(kept.dtype, recorder::Dtype::kFloat32);
  EXPECT_EQ(kept.device, "cpu");
  EXPECT_EQ(kept.step, 5);
  EXPECT_EQ(capture(counted({5, 5})).amount, CaptureAmount::kNote);
}

TEST_F(AdapterCaptureTensor, ASampleOfALargerOne) {
  host_.wish = {0, 8, false, false};
  const at::Tensor tensor = counted({10, 20}).t();
  const auto kept = capture(tensor);
  EXPECT_EQ(kept.amount, CaptureAmount::kSample);
  ASSERT_EQ(kept.indices.size(), 8U);
  for (std::size_t i = 0; i < 8; ++i) EXPECT_EQ(kept.indices[i], recorder::sample_place(i, 200, 8));
  EXPECT_EQ(kept.data, testing::at_places(bytes_of(tensor), kept.indices, sizeof(float)));
}

TEST_F(AdapterCaptureTensor, HashAndStatisticsOfAllElements) {
  host_.wish = {0, 8, true, true};
  const at::Tensor tensor = counted({10, 20}, at::kBFloat16).t();
  const auto kept = capture(tensor);
  const auto all = bytes_of(tensor);
  EXPECT_EQ(kept.hash_kind, CaptureHash::kXxh3);
  EXPECT_EQ(kept.hash, testing::hash_of(all.data(), all.size()));
  ASSERT_EQ(kept.statistics.size(), 1U);
  EXPECT_EQ(kept.statistics.front().elements, 200U);
  EXPECT_EQ(kept.statistics.front().absmax, 199);
}

TEST_F(AdapterCaptureTensor, OneNumberIsAlwaysKept) {
  host_.wish = {0, 0, true, false};
  const auto kept = capture(testing::number(3));
  EXPECT_EQ(kept.amount, CaptureAmount::kFull);
  EXPECT_TRUE(kept.shape.empty());
  EXPECT_EQ(kept.data, bytes_of(testing::number(3)));
}

TEST_F(AdapterCaptureTensor, WithoutElementsThereIsNothingToTake) {
  host_.wish = {1024, 8, true, true};
  const auto kept = capture(counted({0, 3}));
  EXPECT_EQ(kept.shape, (std::vector<std::uint64_t>{0, 3}));
  EXPECT_TRUE(kept.data.empty());
  EXPECT_EQ(kept.hash, testing::hash_of(nullptr, 0));
}

TEST_F(AdapterCaptureTensor, AnIntervalOfAFlatParameter) {
  host_.wish = {1024, 0, false, false};
  const at::Tensor flat = counted({30});
  EXPECT_EQ(capture(flat, {10, 6}).data, bytes_of(flat.narrow(0, 10, 6)));
}

TEST_F(AdapterCaptureTensor, OutOfReachItBecomesANote) {
  host_.wish = {1024, 8, true, true};
  for (const auto& [what, tensor] : testing::without_elements()) {
    SCOPED_TRACE(what);
    const auto kept = capture(tensor);
    EXPECT_EQ(kept.amount, CaptureAmount::kNote);
    EXPECT_TRUE(kept.data.empty());
    EXPECT_EQ(kept.hash_kind, CaptureHash::kNone);
    EXPECT_TRUE(kept.statistics.empty());
  }
}

TEST_F(AdapterCaptureTensor, PlaceInTheWhole) {
  host_.wish = {1024, 0, false, false};
  CaptureTarget block = target();
  block.global_shape = {8, 4};
  block.offset = {4, 0};
  block.replicas = {1, 3};
  EXPECT_TRUE(capture_tensor(counted({4, 4}), block));
  EXPECT_EQ(host_.captures.front().global_shape, block.global_shape);
  EXPECT_EQ(host_.captures.front().offset, block.offset);
  EXPECT_EQ(host_.captures.front().replicas, block.replicas);
  block.offset = {4};
  EXPECT_TRUE(capture_tensor(counted({4, 4}), block));
  EXPECT_TRUE(host_.captures.back().global_shape.empty());
}

TEST_F(AdapterCaptureTensor, WhatIsNotWantedIsNotKept) {
  EXPECT_FALSE(is_wanted("grad"));
  EXPECT_FALSE(capture_tensor(counted({4}), target()));
  EXPECT_FALSE(capture_number(2, target()));
  EXPECT_TRUE(host_.captures.empty());
  EXPECT_TRUE(capture_note(target()));
  EXPECT_EQ(host_.captures.front().amount, CaptureAmount::kNote);
}

}  // namespace
}  // namespace plumbline::shim::adapter
