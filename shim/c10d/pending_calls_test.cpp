#include "shim/c10d/pending_calls.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <thread>
#include <vector>

namespace plumbline::shim {
namespace {

using recorder::Outcome;

const void* work_at(std::uintptr_t number) { return reinterpret_cast<const void*>(number * 64); }

TEST(WorkTable, FindsWhatWasInsertedUntilItIsTaken) {
  const auto works = std::make_unique<WorkTable>();
  works->insert(work_at(1), 11);
  works->insert(work_at(2), 22);
  EXPECT_EQ(works->find(work_at(1)), 11u);
  EXPECT_EQ(works->take(work_at(1)), 11u);
  EXPECT_EQ(works->find(work_at(1)), 0u);
  EXPECT_EQ(works->take(work_at(1)), 0u);
  EXPECT_EQ(works->find(work_at(2)), 22u);
  EXPECT_EQ(works->find(work_at(3)), 0u);
}

TEST(WorkTable, AnAddressInUseAgainBelongsToTheNewCall) {
  const auto works = std::make_unique<WorkTable>();
  works->insert(work_at(1), 11);
  works->insert(work_at(1), 12);
  EXPECT_EQ(works->take(work_at(1)), 12u);
  EXPECT_EQ(works->find(work_at(1)), 0u);
  EXPECT_EQ(works->forgotten(), 0u);
}

TEST(WorkTable, ForgetsTheOldestWhereItIsFullAndCountsThat) {
  const auto works = std::make_unique<WorkTable>();
  constexpr std::uint64_t kCalls = 20'000;
  for (std::uint64_t call = 1; call <= kCalls; ++call) works->insert(work_at(call), call);
  std::uint64_t found = 0;
  for (std::uint64_t call = 1; call <= kCalls; ++call) found += works->find(work_at(call)) == call ? 1 : 0;
  EXPECT_EQ(found + works->forgotten(), kCalls);
  EXPECT_GT(found, 3000u);
  EXPECT_EQ(works->find(work_at(kCalls)), kCalls);
}

TEST(WorkTable, ThreadsDoNotLoseEachOthersWorks) {
  const auto works = std::make_unique<WorkTable>();
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (std::uintptr_t t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (std::uint64_t i = 1; i <= 20'000; ++i) {
        const void* work = work_at(t * 100 + i % 50 + 1);
        const std::uint64_t call = t * 1'000'000 + i;
        works->insert(work, call);
        const std::uint64_t taken = works->take(work);
        if (taken != call) wrong.fetch_add(1);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  // Two threads may want one free entry in the same moment; what that costs is counted.
  EXPECT_LE(static_cast<std::uint64_t>(wrong.load()), works->forgotten());
}

TEST(PendingCalls, ACallOfOneWorkBeginsAndEndsWithIt) {
  const auto calls = std::make_unique<PendingCalls>();
  Outcome outcome{};
  calls->open(7, false);
  calls->add_work(7);
  EXPECT_TRUE(calls->begin(7));
  EXPECT_FALSE(calls->begin(7));
  EXPECT_TRUE(calls->end(7, Outcome::kCompleted, &outcome));
  EXPECT_EQ(outcome, Outcome::kCompleted);
  EXPECT_FALSE(calls->end(7, Outcome::kCompleted, &outcome));
}

TEST(PendingCalls, ACompositeCallEndsWithTheLastOfItsWorks) {
  const auto calls = std::make_unique<PendingCalls>();
  Outcome outcome{};
  calls->open(7, true);
  calls->add_work(7);
  EXPECT_TRUE(calls->begin(7));
  EXPECT_FALSE(calls->end(7, Outcome::kFailed, &outcome)) << "a second work may follow";
  calls->add_work(7);
  EXPECT_FALSE(calls->begin(7));
  EXPECT_FALSE(calls->release(7, &outcome));
  EXPECT_TRUE(calls->end(7, Outcome::kCompleted, &outcome));
  EXPECT_EQ(outcome, Outcome::kFailed) << "one failed work fails the call";
}

TEST(PendingCalls, ACompositeCallWhoseWorksAreDoneEndsWhenItReturns) {
  const auto calls = std::make_unique<PendingCalls>();
  Outcome outcome{};
  calls->open(7, true);
  calls->add_work(7);
  EXPECT_FALSE(calls->end(7, Outcome::kCompleted, &outcome));
  EXPECT_TRUE(calls->release(7, &outcome));
  EXPECT_EQ(outcome, Outcome::kCompleted);
}

TEST(PendingCalls, UnknownCallsAreNobodysBusiness) {
  const auto calls = std::make_unique<PendingCalls>();
  Outcome outcome{};
  calls->add_work(0);
  calls->add_work(9);
  EXPECT_FALSE(calls->begin(0));
  EXPECT_FALSE(calls->begin(9));
  EXPECT_FALSE(calls->end(9, Outcome::kCompleted, &outcome));
  EXPECT_FALSE(calls->release(9, &outcome));
}

TEST(PendingCalls, ACallThatNeverEndsIsForgottenForANewOneAndCounted) {
  const auto calls = std::make_unique<PendingCalls>();
  calls->open(1, false);
  calls->add_work(1);
  calls->open(1 + 4096, false);
  EXPECT_EQ(calls->forgotten(), 1u);
  EXPECT_FALSE(calls->begin(1));
  EXPECT_TRUE(calls->begin(1 + 4096));
}

TEST(PendingCalls, ACallThatRaisedBeforeItsWorkIsNotMissed) {
  const auto calls = std::make_unique<PendingCalls>();
  calls->open(1, false);
  calls->open(1 + 4096, false);
  EXPECT_EQ(calls->forgotten(), 0u);
}

}  // namespace
}  // namespace plumbline::shim
