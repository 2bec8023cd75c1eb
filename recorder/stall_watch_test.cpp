#include "recorder/stall_watch.hpp"

#include <gtest/gtest.h>

#include "recorder/testing/records.hpp"
#include "recorder/training_thread.hpp"

namespace plumbline::recorder {
namespace {

constexpr std::uint64_t kSecond = 1'000'000'000;

TEST(StallWatch, SilenceOfTheLeastLengthIsAStall) {
  StallWatch watch(60 * kSecond);
  EXPECT_FALSE(watch.look(100 * kSecond, 7, 0));
  EXPECT_FALSE(watch.look(159 * kSecond, 7, 0));
  EXPECT_EQ(watch.look(160 * kSecond, 7, 0), 60 * kSecond);
}

TEST(StallWatch, AnyEventEndsIt) {
  StallWatch watch(60 * kSecond);
  watch.look(100 * kSecond, 7, 0);
  EXPECT_FALSE(watch.look(150 * kSecond, 8, 0));
  EXPECT_FALSE(watch.look(200 * kSecond, 8, 0));
  EXPECT_TRUE(watch.look(210 * kSecond, 8, 0));
  EXPECT_FALSE(watch.look(211 * kSecond, 9, 0));
  EXPECT_TRUE(watch.look(271 * kSecond, 9, 0));
}

TEST(StallWatch, LooksAgainAtGrowingIntervals) {
  StallWatch watch(kSecond);
  std::vector<std::uint64_t> looks;
  for (std::uint64_t now = 1; now < 100; ++now)
    if (const auto stalled = watch.look(now * kSecond, 7, 0)) looks.push_back(*stalled / kSecond);
  EXPECT_EQ(looks, (std::vector<std::uint64_t>{1, 2, 4, 8, 16, 32, 64}));
}

TEST(StallWatch, SlowStepsNeedLongerSilence) {
  StallWatch watch(60 * kSecond);
  watch.look(1 * kSecond, 7, 30 * kSecond);
  EXPECT_FALSE(watch.look(200 * kSecond, 7, 30 * kSecond));
  EXPECT_TRUE(watch.look(301 * kSecond, 7, 30 * kSecond));
}

TEST(StallWatch, CanBeOff) {
  StallWatch watch(0);
  watch.look(1, 7, 0);
  EXPECT_FALSE(watch.look(1000 * kSecond, 7, 0));
}

TEST(StallWatch, HasAnEnd) {
  StallWatch watch(kSecond);
  int looks = 0;
  for (std::uint64_t i = 1; i < 1000; ++i) {
    watch.look(10 * i * kSecond, i, 0);
    if (watch.look((10 * i + 5) * kSecond, i, 0)) ++looks;
  }
  EXPECT_EQ(looks, 64);
}

RecordHeader step(std::uint64_t time_ns, std::uint8_t depth = 0) {
  return {time_ns, Kind::kStepBegin, slots_of<StepRecord>(), depth, 0};
}

TEST(TrainingThread, IsTheOneThatSteps) {
  TrainingThread thread;
  EXPECT_FALSE(thread.ring());
  thread.note(3, testing::collective_record(5, 1).header);
  EXPECT_EQ(thread.ring(), 3u);
  thread.note(1, step(10));
  thread.note(3, testing::collective_record(15, 2).header);
  thread.note(2, step(16, 1));
  thread.note(4, testing::alloc_record(17, 1, 1).header);
  EXPECT_EQ(thread.ring(), 1u);
}

TEST(TrainingThread, ItsPaceIsTheMedianStep) {
  TrainingThread thread;
  EXPECT_EQ(thread.step_ns(), 0u);
  std::uint64_t now = 100;
  thread.note(1, step(now));
  EXPECT_EQ(thread.step_ns(), 0u);
  for (const std::uint64_t length : {10, 12, 5000, 11, 9}) thread.note(1, step(now += length));
  EXPECT_EQ(thread.step_ns(), 11u);
  for (int i = 0; i < 100; ++i) thread.note(1, step(now += 70));
  EXPECT_EQ(thread.step_ns(), 70u);
}

}  // namespace
}  // namespace plumbline::recorder
