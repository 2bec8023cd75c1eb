#include "recorder/capture_sample.hpp"

#include <gtest/gtest.h>

#include <set>

namespace plumbline::recorder {
namespace {

TEST(CaptureSample, SmallTensorsAreTakenWhole) {
  for (std::uint64_t i = 0; i < 5; ++i) EXPECT_EQ(sample_place(i, 5, 16), i);
  EXPECT_EQ(sample_size(5, 16), 5u);
  EXPECT_EQ(sample_size(16, 16), 16u);
  EXPECT_EQ(sample_size(0, 16), 0u);
}

TEST(CaptureSample, PlacesRiseAndStayInTheTensor) {
  for (const std::uint64_t elements : {17u, 100u, 4096u, 1'000'003u}) {
    std::uint64_t before = 0;
    for (std::uint64_t i = 0; i < 16; ++i) {
      const std::uint64_t place = sample_place(i, elements, 16);
      EXPECT_LT(place, elements);
      if (i > 0) {
        EXPECT_GT(place, before);
      }
      before = place;
    }
  }
}

TEST(CaptureSample, DoesNotFallIntoStepWithRows) {
  std::set<std::uint64_t> columns;
  for (std::uint64_t i = 0; i < 64; ++i) columns.insert(sample_place(i, 1024 * 1024, 64) % 1024);
  EXPECT_GT(columns.size(), 55u);
}

// The places are part of the format: captures of two versions must be comparable.
TEST(CaptureSample, StaysAsItIs) {
  EXPECT_EQ(sample_place(0, 1000, 4), mix64(0) % 250);
  EXPECT_EQ(mix64(0), 0xe220a8397b1dcdafu);
}

}  // namespace
}  // namespace plumbline::recorder
