#include "checks/replicas.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "checks/testing/fake_rank.hpp"
#include "checks/testing/toy_training.hpp"
#include "checks/testing/verdicts.hpp"

namespace plumbline::checks {
namespace {

using reader::testing::TempDir;
using recorder::Dtype;
using testing::CaptureJob;
using testing::FakeRank;
using testing::Op;
using testing::said;
using testing::ToyParameter;
using testing::ToyTraining;

// `reduces` tells whether a rank all-reduces in a step.
void traces(const std::string& directory, const std::function<bool(int rank, int step)>& reduces) {
  for (const int rank : {0, 1}) {
    FakeRank fake(directory, rank, 2);
    const auto world = fake.group("0", "default_pg", "0,1", rank);
    for (int step = 0; step < 4; ++step) {
      if (reduces(rank, step)) fake.whole_call(10 * step + 1, 10 * step + 2, world, Op::kAllReduce, {.count = 48});
      fake.step(10 * step + 3, 10 * step + 4);
    }
    fake.exit(0);
  }
}

Verdict verdict_of(
    const std::vector<ToyTraining>& ranks,
    const std::function<bool(int rank, int step)>& reduces = [](int, int) { return true; }) {
  const TempDir directory;
  traces(directory.path(), reduces);
  for (const ToyTraining& toy : ranks) toy.write(directory.path());
  return testing::verdict_of(check_replicas, directory);
}

TEST(ReplicasTest, RanksThatAgreePass) {
  const Verdict verdict = verdict_of({{.rank = 0, .replicas = {0, 1}}, {.rank = 1, .replicas = {0, 1}}});
  EXPECT_EQ(verdict.status, Status::kPass) << said(verdict);
}

TEST(ReplicasTest, GradientsThatNobodySummed) {
  const auto no_sum = [](int, int step) { return step != 2; };
  ToyTraining other{.rank = 1, .replicas = {0, 1}};
  other.before_step = [](int step, ToyParameter& p) {
    if (step == 2 && p.name == "head.weight") p.grad[3] += 0.01F;
  };
  const Verdict verdict = verdict_of({{.rank = 0, .replicas = {0, 1}}, other}, no_sum);
  ASSERT_EQ(verdict.status, Status::kFail) << said(verdict);
  EXPECT_EQ(
      verdict.findings[0].title,
      "step 2, ranks 0,1: head.weight has other gradients on its replicas: no collective made them equal before the "
      "step");
  const auto& details = verdict.findings[0].details;
  EXPECT_NE(std::find(details.begin(), details.end(),
                      "rank 0 called no all_reduce and no reduce_scatter in step 2; in most of its other steps 48 "
                      "elements in 1 calls"),
            details.end())
      << said(verdict);
}

TEST(ReplicasTest, ModelsThatAreAveragedEveryFewSteps) {
  std::vector<ToyTraining> ranks{{.rank = 0, .replicas = {0, 1}}, {.rank = 1, .replicas = {0, 1}}};
  for (ToyTraining& toy : ranks) {
    toy.before_step = [rank = toy.rank](int step, ToyParameter& p) {
      if (step == 2) p.grad[3] += 0.01F * static_cast<float>(rank);
      if (step == 3) std::fill(p.values.begin(), p.values.end(), 0.5F);
    };
  }
  const Verdict verdict = verdict_of(ranks);
  EXPECT_EQ(verdict.status, Status::kInconclusive) << said(verdict);
  EXPECT_NE(said(verdict).find("they agree again before step 3"), std::string::npos) << said(verdict);
}

TEST(ReplicasTest, ModelsThatBeganApart) {
  const Verdict verdict = verdict_of({{.rank = 0, .seed = 1, .replicas = {0, 1}, .lr = 1e-3, .weight_decay = 0},
                                      {.rank = 1, .seed = 2, .replicas = {0, 1}, .lr = 1e-3, .weight_decay = 0}});
  ASSERT_EQ(verdict.status, Status::kFail) << said(verdict);
  EXPECT_EQ(verdict.findings[0].title,
            "step 0, ranks 0,1: head.weight differs between its replicas before the first captured step: they began "
            "apart");
  EXPECT_NE(said(verdict).find("gradients are equal"), std::string::npos) << said(verdict);
  EXPECT_NE(said(verdict).find("the difference is the same after step 3"), std::string::npos) << said(verdict);
}

TEST(ReplicasTest, UndeclaredOnesAreKnownByTheirBits) {
  ToyTraining other{.rank = 1};
  other.before_step = [](int step, ToyParameter& p) {
    if (step >= 1 && p.name == "head.weight") p.grad[0] = -p.grad[0];
  };
  const Verdict verdict = verdict_of({{.rank = 0}, other});
  ASSERT_EQ(verdict.status, Status::kFail) << said(verdict);
  EXPECT_EQ(verdict.findings[0].title.find("step 1, ranks 0,1: head.weight has other gradients"), 0u) << said(verdict);
  // Drawn apart, they are no replicas.
  EXPECT_EQ(verdict_of({{.rank = 0, .seed = 1}, {.rank = 1, .seed = 2, .data_seed = 2}}).status, Status::kNotEvaluated);
}

// A bias that tensor parallelism divides begins with zeros on all ranks, and goes its own way on each.
TEST(ReplicasTest, ConstantsProveNothing) {
  std::vector<ToyTraining> ranks{{.rank = 0, .seed = 1, .data_seed = 1}, {.rank = 1, .seed = 2, .data_seed = 2}};
  for (ToyTraining& toy : ranks) {
    toy.before_step = [](int step, ToyParameter& p) {
      if (step == 0 && p.name == "head.weight") std::fill(p.values.begin(), p.values.end(), 0.0F);
    };
  }
  EXPECT_EQ(verdict_of(ranks).status, Status::kNotEvaluated) << said(verdict_of(ranks));
  // Nor do those of a norm, unless the ranks share something that is no constant.
  for (ToyTraining& toy : ranks) {
    toy.before_step = [](int step, ToyParameter& p) {
      if (p.name != "head.weight") return;
      p.module = "LayerNorm";
      if (step == 0) std::fill(p.values.begin(), p.values.end(), 1.0F);
    };
  }
  EXPECT_EQ(verdict_of(ranks).status, Status::kNotEvaluated) << said(verdict_of(ranks));
  // The same model, without a gradient in common: ranks may train apart on purpose.
  ranks[1].seed = 1;
  const Verdict same = verdict_of(ranks);
  EXPECT_EQ(same.status, Status::kInconclusive) << said(same);
  EXPECT_EQ(same.findings.at(0).title.find("step 0, ranks 0,1: head.weight has other gradients"), 0U) << said(same);
}

// One gradient that updates models which were drawn apart.
TEST(ReplicasTest, UndeclaredModelsThatBeganApart) {
  const Verdict verdict = verdict_of({{.rank = 0, .seed = 1}, {.rank = 1, .seed = 2}});
  ASSERT_EQ(verdict.status, Status::kFail) << said(verdict);
  EXPECT_EQ(verdict.findings[0].title,
            "step 0, ranks 0,1: head.weight differs between its replicas before the first captured step: they began "
            "apart");
  EXPECT_NE(said(verdict).find("its gradient had the same bits on these ranks"), std::string::npos) << said(verdict);
}

// Experts that were drawn from one seed: their values begin equal, their gradients never are.
TEST(ReplicasTest, ExpertsFromOneSeedAreARemark) {
  std::vector<ToyTraining> ranks{{.rank = 0}, {.rank = 1}};
  ranks[1].before_step = [](int, ToyParameter& p) {
    if (p.name == "layer.weight") p.grad[0] += 0.5F;
  };
  const Verdict verdict = verdict_of(ranks);
  EXPECT_EQ(verdict.status, Status::kPass) << said(verdict);
  ASSERT_FALSE(verdict.unknown.empty());
  EXPECT_EQ(verdict.unknown[0].find("whether layer.weight has to be equal"), 0U) << verdict.unknown[0];
}

// A norm that no collective sums, beside one whose gradients are equal; and one that may be a shard.
TEST(ReplicasTest, ANormThatNobodySums) {
  std::vector<ToyTraining> ranks{{.rank = 0}, {.rank = 1}};
  for (ToyTraining& toy : ranks) {
    toy.before_step = [&toy](int step, ToyParameter& p) {
      p.module = "LayerNorm";
      if (p.name != "head.weight") return;
      if (step == 0) std::fill(p.values.begin(), p.values.end(), 1.0F);
      if (toy.rank == 1) p.grad[0] += 0.5F;
    };
  }
  const Verdict verdict = verdict_of(ranks);
  ASSERT_EQ(verdict.status, Status::kFail) << said(verdict);
  EXPECT_EQ(verdict.findings[0].title.find("step 0, ranks 0,1: head.weight has other gradients"), 0U) << said(verdict);
  EXPECT_NE(said(verdict).find("missing for it: an all_reduce of its 16 elements over default_pg, ranks 0,1"),
            std::string::npos)
      << said(verdict);
  EXPECT_NE(said(verdict).find("over that group rank 0 reduced in step 0: 48 elements"), std::string::npos);
}

TEST(ReplicasTest, LearningRatesThatPart) {
  const Verdict verdict = verdict_of({{.rank = 0, .replicas = {0, 1}}, {.rank = 1, .replicas = {0, 1}, .lr = 2e-3}});
  ASSERT_EQ(verdict.status, Status::kFail);
  EXPECT_NE(said(verdict).find("is updated with another learning rate: 0.001 on rank 0, 0.002 on rank 1"),
            std::string::npos)
      << said(verdict);
}

Verdict with_data(const std::vector<std::int64_t>& first, const std::vector<std::int64_t>& second) {
  const TempDir directory;
  traces(directory.path(), [](int, int) { return true; });
  for (const int rank : {0, 1}) {
    ToyTraining{.rank = rank, .steps = 2, .replicas = {0, 1}, .batch_ranks = {0, 1}}.write(directory.path());
    std::filesystem::rename(directory / ("captures/rank" + std::to_string(rank) + ".plc"),
                            directory / ("captures/steps" + std::to_string(rank) + ".plc"));
    CaptureJob job(directory.path(), rank, {.start_monotonic_ns = testing::RankOptions{}.start_monotonic_ns + 1});
    job.tensor("input_ids", "model", 0, Dtype::kInt64, {2, 2}, testing::bytes_of(rank == 0 ? first : second));
    job.finish();
  }
  return testing::verdict_of(check_replicas, directory);
}

TEST(ReplicasTest, DataParallelRanksThatReadTheSameRows) {
  EXPECT_EQ(with_data({1, 2, 3, 4}, {5, 6, 7, 8}).status, Status::kPass);
  const Verdict verdict = with_data({1, 2, 3, 4}, {1, 2, 3, 4});
  ASSERT_EQ(verdict.status, Status::kFail) << said(verdict);
  EXPECT_EQ(verdict.findings[0].title,
            "step 0, ranks 0,1: input_ids are the same on data-parallel ranks: they read the same rows");
}

}  // namespace
}  // namespace plumbline::checks
