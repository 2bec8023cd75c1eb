#include "checks/processor_wait.hpp"

#include <gtest/gtest.h>

#include <functional>

#include "checks/testing/fake_rank.hpp"

namespace plumbline::checks {
namespace {

using reader::testing::open_run;
using reader::testing::TempDir;
using testing::FakeRank;

constexpr std::int64_t kMs = 1'000'000;

// Of the stretch from `from` to `to`, in milliseconds since the start.
std::optional<std::int64_t> waited(const std::function<void(FakeRank&)>& recorded, double from, double to) {
  const TempDir directory;
  FakeRank rank(directory.path(), 0, 1);
  recorded(rank);
  rank.exit(0);
  const reader::Run run = open_run(directory.path());
  return processor_wait(run.traces()[0], rank.at(from), rank.at(to));
}

TEST(ProcessorWaitTest, IsWhatItGrewByInThatTime) {
  const auto recorded = [](FakeRank& rank) {
    rank.processor_wait(1000, 100);
    rank.processor_wait(2000, 600);
    rank.processor_wait(3000, 700);
  };
  EXPECT_EQ(waited(recorded, 1000, 3000), 600 * kMs);
  EXPECT_EQ(waited(recorded, 1000, 2000), 500 * kMs);
  EXPECT_EQ(waited(recorded, 1500, 2000), 250 * kMs);
}

TEST(ProcessorWaitTest, WhatWasReadSpeaksForTheRest) {
  const auto recorded = [](FakeRank& rank) {
    rank.processor_wait(1000, 0);
    rank.processor_wait(2000, 500);
  };
  EXPECT_EQ(waited(recorded, 0, 2000), 1000 * kMs);
}

TEST(ProcessorWaitTest, AnotherThreadBeginsAgain) {
  const auto recorded = [](FakeRank& rank) {
    rank.processor_wait(1000, 400);
    rank.processor_wait(2000, 10);
    rank.processor_wait(3000, 30);
  };
  EXPECT_EQ(waited(recorded, 1000, 3000), 20 * kMs);
}

TEST(ProcessorWaitTest, AShortRunHasOneReading) {
  EXPECT_EQ(waited([](FakeRank& rank) { rank.trace().fact("processor.wait_ns", "70000000"); }, 0, 500), 70 * kMs);
  EXPECT_EQ(waited([](FakeRank& rank) { rank.step(1, 2); }, 0, 500), std::nullopt);
}

}  // namespace
}  // namespace plumbline::checks
