#include "checks/micro_batches.hpp"

#include <gtest/gtest.h>

#include <deque>

namespace plumbline::checks {
namespace {

// Losses and calls of backward(), in the order of time: 'l' and 'b'.
class Order {
 public:
  explicit Order(const std::string& events) {
    for (const char event : events) {
      captures_.emplace_back();
      captures_.back().time_ns = captures_.size();
      if (event == 'b') {
        backward_.push_back(&captures_.back());
        continue;
      }
      calls_.emplace_back();
      calls_.back().loss = &captures_.back();
      calls_.back().supervised = calls_.size();
      calls_.back().rows = 4;
      calls_.back().sum = static_cast<double>(calls_.size() * calls_.size());
      calls_.back().bound = 1.0 / static_cast<double>(calls_.size());
    }
  }

  std::vector<MicroBatch> batches() const {
    std::vector<const LossCall*> calls;
    for (const LossCall& call : calls_) calls.push_back(&call);
    return micro_batches(calls, backward_);
  }

  std::vector<std::size_t> sizes() const {
    std::vector<std::size_t> found;
    for (const MicroBatch& batch : batches()) found.push_back(batch.chunks.size());
    return found;
  }

 private:
  std::deque<Capture> captures_;
  std::deque<LossCall> calls_;
  std::vector<const Capture*> backward_;
};

TEST(MicroBatchesTest, WhatLiesBeforeACallOfBackwardBelongsTogether) {
  EXPECT_EQ(Order("lblb").sizes(), (std::vector<std::size_t>{1, 1}));
  EXPECT_EQ(Order("lllbllb").sizes(), (std::vector<std::size_t>{3, 2}));
  EXPECT_EQ(Order("lll").sizes(), (std::vector<std::size_t>{1, 1, 1}));
}

TEST(MicroBatchesTest, WithoutThatOrderEachLossIsOne) {
  EXPECT_EQ(Order("llbb").sizes(), (std::vector<std::size_t>{1, 1}));
  EXPECT_EQ(Order("lbl").sizes(), (std::vector<std::size_t>{1, 1}));
  EXPECT_EQ(Order("bll").sizes(), (std::vector<std::size_t>{1, 1}));
  EXPECT_TRUE(Order("b").sizes().empty());
}

TEST(MicroBatchesTest, ChunksAddUp) {
  // Sums 1, 4 and 9 of 1, 2 and 3 tokens.
  const Order order("lllb");
  const std::vector<MicroBatch> batches = order.batches();
  ASSERT_EQ(batches.size(), 1u);
  EXPECT_EQ(batches[0].sum(), 14);
  EXPECT_EQ(batches[0].supervised(), 6);
  EXPECT_EQ(batches[0].rows(), 12);
  EXPECT_EQ(batches[0].bound(), 1);
  EXPECT_DOUBLE_EQ(batches[0].mean(), 14.0 / 6);
  EXPECT_DOUBLE_EQ(batches[0].mean_of_means(), 2);
}

}  // namespace
}  // namespace plumbline::checks
