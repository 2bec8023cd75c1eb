#include "checks/gradient_classes.hpp"

#include <gtest/gtest.h>

#include "checks/testing/toy_training.hpp"
#include "reader/testing/records.hpp"

namespace plumbline::checks {
namespace {

using reader::testing::TempDir;
using testing::ToyParameter;
using testing::ToyTraining;

// What is known of head.weight on some ranks.
struct Known {
  RankGroups first;
  RankGroups gradients;
  bool any = false;
};

Known known_of(const std::vector<ToyTraining>& ranks) {
  const TempDir directory;
  for (const ToyTraining& toy : ranks) toy.write(directory.path());
  auto captures = reader::RunCaptures::open(directory.path());
  EXPECT_TRUE(captures.ok());
  CaptureLoader loader(*captures);
  const std::vector<CapturedStep> steps = captured_steps(*captures);
  GradientClasses classes(steps, loader);
  for (const HeldParameter& one : held_parameters(steps)) {
    if (one.name == "head.weight") return {equal_at_first(loader, one), classes.of(one), classes.any(one)};
  }
  return {};
}

TEST(GradientClassesTest, RanksByTheirBits) {
  const Known known =
      known_of({{.rank = 0}, {.rank = 1, .seed = 2}, {.rank = 2, .data_seed = 2}, {.rank = 3, .seed = 2}});
  EXPECT_EQ(known.first, (RankGroups{{0, 2}, {1, 3}}));
  EXPECT_EQ(known.gradients, (RankGroups{{0, 1, 3}}));
  EXPECT_TRUE(known.any);
}

TEST(GradientClassesTest, TheStepInWhichMostAgreeCounts) {
  std::vector<ToyTraining> ranks{{.rank = 0}, {.rank = 1}};
  ranks[1].before_step = [](int step, ToyParameter& p) {
    if (step != 2) p.grad[0] += 1;
  };
  EXPECT_EQ(known_of(ranks).gradients, (RankGroups{{0, 1}}));
  ranks[1].before_step = [](int, ToyParameter& p) { p.grad[0] += 1; };
  EXPECT_EQ(known_of(ranks).gradients, RankGroups{});
}

TEST(GradientClassesTest, AConstantGradientProvesNothing) {
  std::vector<ToyTraining> ranks{{.rank = 0}, {.rank = 1}};
  for (ToyTraining& toy : ranks) {
    toy.before_step = [](int, ToyParameter& p) { std::fill(p.grad.begin(), p.grad.end(), 0.25F); };
  }
  EXPECT_EQ(known_of(ranks).gradients, RankGroups{});
}

TEST(GradientClassesTest, WithoutGradients) {
  std::vector<ToyTraining> ranks{{.rank = 0}, {.rank = 1}};
  for (ToyTraining& toy : ranks) {
    toy.before_step = [](int, ToyParameter& p) { p.has_grad = false; };
  }
  const Known known = known_of(ranks);
  EXPECT_FALSE(known.any);
  EXPECT_EQ(known.first, (RankGroups{{0, 1}}));
}

}  // namespace
}  // namespace plumbline::checks
