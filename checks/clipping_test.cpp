#include "checks/clipping.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "checks/testing/captured_run.hpp"

namespace plumbline::checks {
namespace {

using namespace testing;

// What one rank gives to clipping, and what its step gets.
struct Rank {
  std::vector<float> before;
  double factor = 1;
  double max_norm = 1;
  std::vector<float> used{};  // empty: `before` times the factor
  float weight = 1;           // value of the parameter
  bool by_hand = false;       // no call of a function is seen
  bool sampled = false;       // of what is clipped only the last element is captured
};

enum class Placed { kSharded, kReplicated, kUnknown };

class ClippedRun {
 public:
  explicit ClippedRun(const std::vector<Rank>& ranks, Placed placed = Placed::kSharded,
                      const std::string& norm_type = "2.0") {
    for (std::size_t i = 0; i < ranks.size(); ++i) write(static_cast<int>(i), ranks, placed, norm_type);
  }

  std::vector<Finding> findings() {
    CapturedRun all(directory_);
    const std::vector<CapturedStep> steps = captured_steps(all.captures());
    Observations observations;
    remarks.clear();
    examine_clipping(all.subject, all.loader, steps, observations, remarks);
    return observations.findings(all.subject);
  }

  std::set<std::string> remarks;

 private:
  void write(int number, const std::vector<Rank>& ranks, Placed placed, const std::string& norm_type) {
    write_trace(directory_.path(), number, static_cast<int>(ranks.size()));
    const Rank& rank = ranks[static_cast<std::size_t>(number)];
    const std::uint64_t count = rank.before.size();
    TensorPlace place;
    if (placed == Placed::kSharded) {
      place.global_shape = {count * ranks.size()};
      place.offset = {count * static_cast<std::uint64_t>(number)};
    } else if (placed == Placed::kReplicated) {
      for (std::size_t i = 0; i < ranks.size(); ++i) place.replicas.push_back(static_cast<std::int32_t>(i));
    }
    std::vector<float> used = rank.used;
    if (used.empty()) {
      for (const float value : rank.before) used.push_back(value * static_cast<float>(rank.factor));
    }
    CaptureJob job(directory_.path(), number);
    const std::string probe = rank.by_hand ? "grad.backward" : "grad.before_clip";
    TensorPlace sample = place;
    if (rank.sampled) sample.indices = {count - 1};
    job.tensor(probe, "weight", 0, Dtype::kFloat32, {count},
               bytes_of(rank.sampled ? std::vector<float>{rank.before.back()} : rank.before), sample);
    if (!rank.by_hand)
      job.note("clip", "clip_grad_norm_", 0,
               R"({"max_norm":)" + std::to_string(rank.max_norm) + R"(,"norm_type":)" + norm_type +
                   R"(,"total_norm":1e9,"params":["weight"]})");
    job.step_note(0, "SGD", {R"({"settings":{"lr":0.1},"params":["weight"]})"});
    const std::vector<float> weights(count, rank.weight);
    job.tensor("grad", "weight", 0, Dtype::kFloat32, {count}, bytes_of(used), place);
    job.tensor("param.before", "weight", 0, Dtype::kFloat32, {count}, bytes_of(weights), place);
    job.tensor("param.after", "weight", 0, Dtype::kFloat32, {count}, bytes_of(weights), place);
    job.finish();
  }

  TempDir directory_;
};

std::string only_title(ClippedRun& run) {
  const auto findings = run.findings();
  EXPECT_EQ(findings.size(), 1u);
  return findings.empty() ? "" : findings[0].title;
}

std::string first_detail(ClippedRun& run) {
  const auto findings = run.findings();
  return findings.empty() || findings[0].details.empty() ? "" : findings[0].details[0];
}

TEST(ClippingTest, ShardsClippedEachByItsOwnNorm) {
  ClippedRun run({{{3}, 1.0 / 3}, {{4}, 1.0 / 4}});
  EXPECT_EQ(
      only_title(run),
      "step 0, ranks 0,1: weight has a clip coefficient that differs per rank (0.3333 on rank 0, 0.25 on rank 1), "
      "though the ranks hold shards of one gradient; global norm 5, applied norm 1.414 > max_norm 1");
  const auto findings = run.findings();
  EXPECT_EQ(findings[0].details[0], "each rank clips by the norm of its own shards: 3 on rank 0, 4 on rank 1");
  EXPECT_NE(findings[0].details[1].find("for all is 0.2"), std::string::npos);
  EXPECT_NE(findings[0].details[1].find("cosine 0.990"), std::string::npos);
  EXPECT_FALSE(findings[0].evidence.empty());
}

Rank by_hand(std::vector<float> left, double factor, std::vector<float> used = {}) {
  return {.before = std::move(left), .factor = factor, .used = std::move(used), .by_hand = true};
}

TEST(ClippingTest, ShardsScaledByHand) {
  ClippedRun run({by_hand({3}, 1.0 / 3), by_hand({4}, 1.0 / 4)});
  EXPECT_EQ(
      only_title(run),
      "step 0, ranks 0,1: weight has a clip coefficient that differs per rank (0.3333 on rank 0, 0.25 on rank 1), "
      "though the ranks hold shards of one gradient; global norm 5, applied norm 1.414 > max_norm 1");
  EXPECT_EQ(first_detail(run), "each rank clips by the norm of its own shards: 3 on rank 0, 4 on rank 1");
  Rank sampled = by_hand({0, 3}, 1.0 / 3);
  sampled.sampled = true;
  Rank second = by_hand({0, 4}, 1.0 / 4);
  second.sampled = true;
  ClippedRun of_samples({sampled, second});
  EXPECT_EQ(only_title(of_samples), only_title(run));
  ClippedRun other({by_hand({3}, 0.5), by_hand({4}, 0.25)});
  EXPECT_EQ(
      only_title(other),
      "step 0, ranks 0,1: weight has its gradient multiplied by another factor per rank (0.5 on rank 0, 0.25 on rank "
      "1), though the ranks hold shards of one gradient");
}

// One factor may come from any norm; copies are reduced, or come to the check of replicas.
TEST(ClippingTest, WhatIsDoneByHandAlikeIsSilent) {
  ClippedRun run({by_hand({3}, 0.1), by_hand({4}, 0.1)});
  EXPECT_TRUE(run.findings().empty());
  ClippedRun not_at_all({by_hand({3}, 1), by_hand({4}, 1)});
  EXPECT_TRUE(not_at_all.findings().empty());
  ClippedRun averaged({by_hand({3, 1}, 1, {2, 2}), by_hand({1, 3}, 1, {2, 2})}, Placed::kReplicated);
  EXPECT_TRUE(averaged.findings().empty());
  ClippedRun one_rank_alone({by_hand({3, 1}, 1, {1, 1}), by_hand({1, 3}, 0.5)});
  EXPECT_TRUE(one_rank_alone.findings().empty()) << "what the first did was no multiplication";
}

// The norm that the function returned is not looked at: a job may log a local one and clip rightly.
TEST(ClippingTest, OneCoefficientOfTheGlobalNormIsSilent) {
  ClippedRun run({{{3}, 0.2}, {{4}, 0.2}});
  EXPECT_TRUE(run.findings().empty());
  ClippedRun small({{{0.3F}, 1}, {{0.4F}, 1}});
  EXPECT_TRUE(small.findings().empty());
  ClippedRun largest({{{3}, 0.25}, {{4}, 0.25}}, Placed::kSharded, "\"inf\"");
  EXPECT_TRUE(largest.findings().empty());
}

TEST(ClippingTest, ReplicasCountOnce) {
  ClippedRun run({{{3, 4}, 0.2}, {{3, 4}, 0.2}}, Placed::kReplicated);
  EXPECT_TRUE(run.findings().empty());
  const double twice = 1 / std::sqrt(50.0);
  ClippedRun counted({{{3, 4}, twice}, {{3, 4}, twice}}, Placed::kReplicated);
  EXPECT_EQ(only_title(counted),
            "step 0, ranks 0,1: gradients are clipped by 0.1414, though norm 5 and max_norm 1 give 0.2");
  EXPECT_EQ(first_detail(counted), "it is what a norm with replicas counted on every rank gives, 7.071");
}

TEST(ClippingTest, TheCauseOfAWrongCoefficient) {
  const auto cause = [](double factor) {
    ClippedRun run({{{3}, factor}, {{4}, factor}});
    return first_detail(run);
  };
  EXPECT_EQ(cause(1.0 / 3), "it is what the norm of rank 0's own part gives, 3");
  EXPECT_EQ(cause(1.0 / 25), "it is what the square of the norm gives: the root is missing");
  EXPECT_EQ(cause(1.0 / 7), "it is what the norm of type 1 gives, 7");
  EXPECT_EQ(cause(0.4), "it is what max_norm 2 gives");
  ClippedRun none({{{3}, 1}, {{4}, 1}});
  EXPECT_EQ(only_title(none), "step 0, ranks 0,1: gradients of norm 5 are not clipped, though max_norm is 1");
}

TEST(ClippingTest, AnotherMaxNormByRank) {
  ClippedRun run({{{3, 4}, 0.2, 1}, {{3, 4}, 0.4, 2}}, Placed::kReplicated);
  EXPECT_EQ(only_title(run),
            "step 0, ranks 0,1: gradients are clipped to another max_norm by rank: 1 on rank 0, 2 on rank 1");
}

TEST(ClippingTest, ClippedOnEachRankBeforeTheMeanIsTaken) {
  // Norms 5 and 10: coefficients 0.2 and 0.1.
  const std::vector<float> mean{(3 * 0.2F + 0.6F) / 2, (4 * 0.2F + 0.8F) / 2};
  ClippedRun run({{{3, 4}, 1, 1, mean}, {{6, 8}, 1, 1, mean}}, Placed::kUnknown);
  EXPECT_EQ(
      only_title(run),
      "step 0, ranks 0,1: weight is clipped on each rank by the norm of its own gradient (5 on rank 0, 10 on rank "
      "1), before the ranks' gradients are averaged");
  // Whatever else came of them is not said to be that.
  ClippedRun other({{{3, 4}, 1, 1, {9, 9}}, {{6, 8}, 1, 1, {9, 9}}}, Placed::kUnknown);
  EXPECT_TRUE(other.findings().empty());
}

// Ranks that nothing says are parts of one model may each have a model of their own.
// A float32 sum over many elements is off by more than its result is rounded; over few it is not.
TEST(ClippingTest, TheNormsOwnRoundingGrowsWithTheGradient) {
  const auto titles = [](std::size_t count) {
    const Rank rank{.before = std::vector<float>(count, 1), .factor = 1.0001 / std::sqrt(static_cast<double>(count))};
    return ClippedRun({rank}).findings().size();
  };
  EXPECT_EQ(titles(40000), 0u);
  EXPECT_EQ(titles(400), 1u);
}

TEST(ClippingTest, PartsOfUnknownPlaceAreARemark) {
  ClippedRun run({{{3}, 1.0 / 3, 1, {}, 1}, {{4}, 1.0 / 4, 1, {}, 2}}, Placed::kUnknown);
  EXPECT_TRUE(run.findings().empty());
  ASSERT_EQ(run.remarks.size(), 1u);
  EXPECT_NE(run.remarks.begin()->find("whether ranks 0,1 hold parts of one model"), std::string::npos);
}

TEST(ClippingTest, WhatWasChangedOtherwiseIsNotJudged) {
  ClippedRun run({{{3, 1}, 1, 1, {1, 1}}, {{4, 1}, 1, 1, {1, 7}}});
  EXPECT_TRUE(run.findings().empty());
  EXPECT_TRUE(run.remarks.empty());
}

}  // namespace
}  // namespace plumbline::checks
