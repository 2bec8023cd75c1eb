#include "shim/torch/collective_window.hpp"

#include <gtest/gtest.h>

#include "shim/torch/testing/fake_host.hpp"

namespace plumbline::shim::adapter {
namespace {

using testing::FakeHost;

class AdapterCollectiveWindow : public ::testing::Test {
 protected:
  // How many of so many calls of a group in one step are looked at.
  static int looked_at(std::uint64_t group, std::uint64_t calls) {
    int count = 0;
    for (std::uint64_t seq = 0; seq < calls; ++seq) count += step_of_collective(group, seq) >= 0 ? 1 : 0;
    return count;
  }
  void TearDown() override { open_collectives(-1); }
  FakeHost host_;
};

TEST_F(AdapterCollectiveWindow, OutsideOfAStepThatIsChosenNothingIsLookedAt) {
  open_collectives(-1);
  EXPECT_EQ(step_of_collective(1, 1), -1);
  open_collectives(7);
  EXPECT_EQ(step_of_collective(1, 1), 7);
  open_collectives(-1);
  EXPECT_EQ(step_of_collective(1, 2), -1);
}

TEST_F(AdapterCollectiveWindow, OfManyCallsOfAGroupSomeAndThenNone) {
  open_collectives(8);
  EXPECT_EQ(looked_at(1, 256), 256);
  EXPECT_EQ(looked_at(1, 4096 - 256), (4096 - 256) / 16);
  EXPECT_EQ(looked_at(1, 160), 0);
  EXPECT_EQ(looked_at(2, 256), 256);
}

TEST_F(AdapterCollectiveWindow, ADiagnosisLooksAtMore) {
  host_.level = recorder::Level::kDiagnose;
  open_collectives(9);
  EXPECT_EQ(looked_at(1, 4096), 4096);
  EXPECT_EQ(looked_at(1, 160), 10);
}

TEST_F(AdapterCollectiveWindow, EachStepCountsAnew) {
  open_collectives(10);
  looked_at(1, 300);
  open_collectives(10);
  EXPECT_EQ(step_of_collective(1, 1), -1);
  open_collectives(11);
  EXPECT_EQ(step_of_collective(1, 1), 11);
}

}  // namespace
}  // namespace plumbline::shim::adapter
