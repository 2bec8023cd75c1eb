#include "checks/loss_denominators.hpp"

#include <gtest/gtest.h>

namespace plumbline::checks {
namespace {

// Two ranks with two micro-batches each, of 40 supervised tokens in all among 64, and a loss of 2 a token.
LossBatch batch_of() {
  LossBatch batch;
  batch.ranks[0];
  batch.ranks[1];
  batch.used = batch.right = 2;
  batch.sum = 80;
  batch.tokens = 40;
  batch.rows = 64;
  batch.with_padding = 1.25;
  batch.mean_of_ranks = 2.1;
  batch.mean_of_means = 2.3;
  batch.mean_of_chunks = 2.7;
  batch.micro = 2;
  batch.bound = 1e-5;
  return batch;
}

std::string words(const LossBatch& batch, double used) {
  const auto found = explain_denominator(batch, used);
  return found ? (found->status == Status::kFail ? "fail: " : "open: ") + found->words : "";
}

TEST(LossDenominatorsTest, EachByItself) {
  const LossBatch batch = batch_of();
  EXPECT_EQ(words(batch, 1.25), "fail: is divided by all 64 tokens rather than the 40 supervised ones");
  EXPECT_EQ(words(batch, 2.1), "fail: is a mean of the ranks' means, which have different numbers of tokens");
  EXPECT_EQ(words(batch, 2.3), "fail: is a mean of the micro-batches' means, which have different numbers of tokens");
  EXPECT_EQ(words(batch, 40), "fail: is a sum over tokens, with no denominator");
  EXPECT_EQ(words(batch, 1.9), "");
  EXPECT_EQ(words(batch, 2), "") << "the right one is nothing to explain";
}

TEST(LossDenominatorsTest, WithFactors) {
  const LossBatch batch = batch_of();
  EXPECT_EQ(words(batch, 8),
            "fail: is the mean over the supervised tokens multiplied by the number of micro-batches and the number of "
            "ranks");
  EXPECT_EQ(words(batch, 0.625),
            "fail: is divided by all 64 tokens rather than the 40 supervised ones, divided by the number of "
            "micro-batches");
  LossBatch chunks = batch;
  chunks.chunks = 3;
  EXPECT_EQ(words(chunks, 6), "fail: is the mean over the supervised tokens multiplied by the number of chunks");
}

TEST(LossDenominatorsTest, ChunksThatMayBeMeant) {
  LossBatch batch = batch_of();
  EXPECT_EQ(words(batch, 2.7),
            "fail: is a mean of the means of chunks that a micro-batch is computed in, which have different numbers of "
            "tokens");
  batch.chunks_are_passes = true;
  EXPECT_EQ(words(batch, 2.7),
            "open: is a mean of the means of batches that one backward() takes together, which have different numbers "
            "of tokens");
  batch.chunks_are_rows = true;
  EXPECT_EQ(words(batch, 2.7), "open: is a mean of the rows' means, which have different numbers of tokens");
}

TEST(LossDenominatorsTest, SeveralLossesOfATokenAreLeftOpen) {
  LossBatch batch = batch_of();
  batch.several = true;
  EXPECT_EQ(words(batch, 4).substr(0, 5), "open:");
  batch.tokens_known = false;
  EXPECT_EQ(words(batch, 4).substr(0, 5), "fail:");
}

TEST(LossDenominatorsTest, APartOfASumMayHaveAWeight) {
  LossBatch batch = batch_of();
  batch.weighed = true;
  batch.used = 1;
  batch.value = 1;
  EXPECT_EQ(words(batch, 1), "fail: is the mean over the supervised tokens divided by the number of micro-batches");
  batch.value = 1.5;
  EXPECT_EQ(words(batch, 1).substr(0, 5), "open:");
  batch.used = 4;
  batch.value = 4.05;
  EXPECT_EQ(words(batch, 4).substr(0, 5), "fail:") << "a weight is rather less than 1";
  batch.value = 5;
  EXPECT_EQ(words(batch, 4).substr(0, 5), "open:") << "two objectives";
}

TEST(LossDenominatorsTest, OneMistakeRatherThanTwo) {
  LossBatch batch = batch_of();
  batch.with_padding = 1;
  EXPECT_EQ(words(batch, 1), "fail: is divided by all 64 tokens rather than the 40 supervised ones");
}

}  // namespace
}  // namespace plumbline::checks
