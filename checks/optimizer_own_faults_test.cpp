#include "checks/optimizer_own_faults.hpp"

#include <gtest/gtest.h>

#include "checks/testing/fake_rank.hpp"
#include "checks/testing/toy_training.hpp"

namespace plumbline::checks {
namespace {

// The self-test on the first parameter of the last step of a training, at `place`.
SelfTest tried(const testing::ToyTraining& toy, std::size_t place) {
  const reader::testing::TempDir directory;
  testing::write_trace(directory.path());
  toy.write(directory.path());
  auto captures = reader::RunCaptures::open(directory.path());
  const std::vector<CapturedStep> steps = captured_steps(*captures);
  CaptureLoader loader(*captures);
  const ParameterContext context{&loader, &steps.back(), nullptr, rule_for(steps.back().class_name)};
  return self_test(context, steps.back().parameters.front(), place);
}

TEST(OptimizerOwnFaults, FaultsOfItsOwnAreCaughtAnywhere) {
  testing::ToyTraining toy;
  // More than one part of a capture, and far more than the stretch that is tried.
  toy.elements = 200'000;
  for (const std::size_t place : {0UL, 100'000UL, 199'999UL}) EXPECT_TRUE(tried(toy, place).passed()) << place;
}

TEST(OptimizerOwnFaults, APlaceThatIsNotThereIsNoTest) {
  testing::ToyTraining toy;
  EXPECT_FALSE(tried(toy, toy.elements + 1'000'000).passed());
}

}  // namespace
}  // namespace plumbline::checks
