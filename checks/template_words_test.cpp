#include "checks/template_words.hpp"

#include <gtest/gtest.h>

#include "checks/replicas.hpp"
#include "checks/testing/fake_rank.hpp"
#include "checks/testing/toy_training.hpp"
#include "checks/testing/verdicts.hpp"

namespace plumbline::checks {
namespace {

using reader::testing::open_run;
using reader::testing::TempDir;
using testing::FakeRank;
using testing::ToyParameter;
using testing::ToyTraining;

void trace(const std::string& directory, int rank, const std::string& replicas) {
  FakeRank fake(directory, rank, 2);
  fake.group("7", "TENSOR_PARALLEL", "0,1", rank);
  fake.trace().fact("template.replicas.0", replicas);
  fake.trace().fact("template.names.0", "layers.*.wq.weight\tmodel.layers.*.q_proj.weight");
  fake.trace().fact("template.names.1", "**.weight\tother.**.weight");
  fake.step(1, 2);
  fake.exit(0);
}

TEST(TemplateWordsTest, ReplicasOverTheGroupsOfADescription) {
  const TempDir directory;
  for (const int rank : {0, 1}) trace(directory.path(), rank, "**.gate.weight\tTENSOR_PARALLEL");
  const reader::Run run = open_run(directory.path());
  const Subject subject(run);
  std::vector<std::string> unknown;
  const auto found = template_replicas(subject, unknown);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].pattern, "**.gate.weight");
  EXPECT_EQ(found[0].groups, (RankGroups{{0, 1}}));
  EXPECT_TRUE(unknown.empty());
}

TEST(TemplateWordsTest, AGroupThatTheRunHasNoneOf) {
  const TempDir directory;
  trace(directory.path(), 0, "**\tEXPERT_PARALLEL");
  const reader::Run run = open_run(directory.path());
  const Subject subject(run);
  std::vector<std::string> unknown;
  EXPECT_TRUE(template_replicas(subject, unknown).empty());
  ASSERT_EQ(unknown.size(), 1U);
  EXPECT_EQ(unknown[0], "what the template says of EXPERT_PARALLEL: this run has no group of that name with two ranks");
}

TEST(TemplateWordsTest, NamesByTheFirstPatternThatMatches) {
  const TempDir directory;
  trace(directory.path(), 0, "**\tTENSOR_PARALLEL");
  const reader::Run run = open_run(directory.path());
  const TemplatePairs names = template_names(run);
  ASSERT_EQ(names.size(), 2U);
  EXPECT_EQ(reference_name(names, "layers.3.wq.weight"), "model.layers.3.q_proj.weight");
  EXPECT_EQ(reference_name(names, "head.weight"), "other.head.weight");
  EXPECT_EQ(reference_name(names, "head.bias"), "head.bias");
}

// Drawn apart and with gradients of their own, they are replicas by the template's word alone.
TEST(TemplateWordsTest, TheReplicasCheckTakesTheWord) {
  const TempDir directory;
  for (const int rank : {0, 1}) {
    trace(directory.path(), rank, "head.*\tTENSOR_PARALLEL");
    ToyTraining{.rank = rank, .data_seed = rank}.write(directory.path());
  }
  const Verdict verdict = testing::verdict_of(check_replicas, directory);
  EXPECT_EQ(verdict.status, Status::kFail);
  ASSERT_FALSE(verdict.findings.empty());
  EXPECT_EQ(verdict.findings[0].title.find("step 0, ranks 0,1: head.weight has other gradients"), 0U)
      << verdict.findings[0].title;
}

}  // namespace
}  // namespace plumbline::checks
