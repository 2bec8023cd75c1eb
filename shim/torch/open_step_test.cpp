#include "shim/torch/open_step.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <thread>
#include <vector>

namespace plumbline::shim::adapter {
namespace {

TEST(AdapterOpenStep, TheInnermostIsTheLastThatIsOpen) {
  EXPECT_EQ(innermost_step(), nullptr);
  const auto outer = open_step();
  const auto inner = open_step();
  EXPECT_EQ(outer->depth, 0U);
  EXPECT_EQ(inner->depth, 1U);
  EXPECT_EQ(innermost_step(), inner.get());
  close_step(*inner);
  EXPECT_EQ(innermost_step(), outer.get());
  const auto next = open_step();
  EXPECT_EQ(next->depth, 1U);
  close_step(*next);
  close_step(*outer);
  EXPECT_EQ(innermost_step(), nullptr);
}

TEST(AdapterOpenStep, AnOuterStepMayBeClosedFirst) {
  const auto outer = open_step();
  const auto inner = open_step();
  close_step(*outer);
  EXPECT_EQ(innermost_step(), inner.get());
  close_step(*inner);
  EXPECT_EQ(innermost_step(), nullptr);
}

TEST(AdapterOpenStep, EachThreadHasItsOwn) {
  const auto step = open_step();
  std::thread([&] {
    EXPECT_EQ(innermost_step(), nullptr);
    const auto own = open_step();
    EXPECT_EQ(own->depth, 0U);
    close_step(*own);
    close_step(*step);
  }).join();
  EXPECT_EQ(innermost_step(), nullptr);
}

TEST(AdapterOpenStep, DepthsHaveAnEnd) {
  std::vector<std::shared_ptr<OpenStep>> steps;
  for (int i = 0; i < 300; ++i) steps.push_back(open_step());
  EXPECT_EQ(steps.back()->depth, 255U);
  for (const auto& step : steps) close_step(*step);
  EXPECT_EQ(innermost_step(), nullptr);
}

}  // namespace
}  // namespace plumbline::shim::adapter
