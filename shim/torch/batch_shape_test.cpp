#include "shim/torch/batch_shape.hpp"

#include <ATen/ops/_nested_tensor_from_tensor_list.h>
#include <ATen/ops/empty.h>
#include <gtest/gtest.h>

#include "shim/torch/testing/fake_host.hpp"
#include "shim/torch/testing/tensors.hpp"

namespace plumbline::shim::adapter {
namespace {

using recorder::Counter;
using testing::counted;
using testing::FakeHost;
using Samples = std::vector<std::pair<Counter, std::int64_t>>;

// The largest vocabulary is of the process: each test has a larger one than those before.
std::int64_t next_vocabulary() {
  static std::int64_t last = 0;
  return last += 100;
}

at::Tensor table(std::int64_t vocabulary, std::int64_t hidden) {
  return at::empty({vocabulary, hidden}, at::TensorOptions().device(at::kMeta));
}

class AdapterBatchShape : public ::testing::Test {
 protected:
  Samples noted(const at::Tensor& weight, const at::Tensor& indices) {
    host_.samples.clear();
    note_embedding(&weight, &indices);
    return host_.samples;
  }
  FakeHost host_;
  const std::int64_t vocabulary_ = next_vocabulary();
  const at::Tensor weight_ = table(vocabulary_, 8);
};

TEST_F(AdapterBatchShape, RowsAndLengthOfWhatIsLookedUp) {
  EXPECT_EQ(noted(weight_, counted({4, 16}, at::kLong)),
            (Samples{{Counter::kBatchRows, 4}, {Counter::kBatchLength, 16}}));
  EXPECT_EQ(noted(weight_, counted({2, 3, 5}, at::kInt)),
            (Samples{{Counter::kBatchRows, 6}, {Counter::kBatchLength, 5}}));
  EXPECT_EQ(noted(weight_, counted({7}, at::kLong)), (Samples{{Counter::kBatchRows, 1}, {Counter::kBatchLength, 7}}));
  EXPECT_EQ(noted(weight_, counted({0, 7}, at::kLong)),
            (Samples{{Counter::kBatchRows, 0}, {Counter::kBatchLength, 7}}));
  EXPECT_EQ(host_.facts["model.vocabulary"], std::to_string(vocabulary_));
  EXPECT_EQ(host_.facts["model.hidden"], "8");
}

TEST_F(AdapterBatchShape, TheLargestVocabularySpeaks) {
  EXPECT_FALSE(noted(weight_, counted({4, 16}, at::kLong)).empty());
  EXPECT_TRUE(noted(table(vocabulary_ - 1, 8), counted({4, 16}, at::kLong)).empty());
  EXPECT_FALSE(noted(weight_, counted({4, 16}, at::kLong)).empty());
  EXPECT_FALSE(noted(table(vocabulary_ + 1, 4), counted({4, 16}, at::kLong)).empty());
  EXPECT_EQ(host_.facts["model.hidden"], "4");
  EXPECT_TRUE(noted(weight_, counted({4, 16}, at::kLong)).empty());
}

TEST_F(AdapterBatchShape, WhatIsNoTableOrHasNoRowIsLeftOut) {
  EXPECT_TRUE(noted(weight_, counted({}, at::kLong)).empty());
  EXPECT_TRUE(noted(weight_, at::Tensor()).empty());
  EXPECT_TRUE(noted(at::Tensor(), counted({4, 16}, at::kLong)).empty());
  EXPECT_TRUE(noted(at::empty({vocabulary_}), counted({4}, at::kLong)).empty());
  const at::Tensor nested = at::_nested_tensor_from_tensor_list({counted({2, 3}), counted({1, 3})});
  EXPECT_TRUE(noted(weight_, nested).empty());
  EXPECT_TRUE(host_.facts.empty());
}

TEST_F(AdapterBatchShape, NothingIsNotedWhereNothingIsRecorded) {
  host_.active = false;
  EXPECT_TRUE(noted(weight_, counted({4, 16}, at::kLong)).empty());
}

}  // namespace
}  // namespace plumbline::shim::adapter
