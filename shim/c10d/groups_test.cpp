#include "shim/c10d/groups.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <thread>
#include <vector>

namespace plumbline::shim {
namespace {

const void* backend_at(std::uintptr_t number) { return reinterpret_cast<const void*>(number * 4096); }

TEST(Groups, NumberCollectivesAndTransfersApart) {
  const auto groups = std::make_unique<Groups>();
  EXPECT_EQ(groups->next(7, backend_at(1), "gloo", false).seq, 0u);
  EXPECT_EQ(groups->next(7, backend_at(1), "gloo", false).seq, 1u);
  EXPECT_EQ(groups->next(7, backend_at(1), "gloo", true).seq, 0u);
  EXPECT_EQ(groups->next(8, backend_at(2), "gloo", false).seq, 0u);
  EXPECT_EQ(groups->next(7, backend_at(1), "gloo", false).seq, 2u);
}

TEST(Groups, KeepTheIdThatTheAdapterGives) {
  const auto groups = std::make_unique<Groups>();
  EXPECT_EQ(groups->next(7, backend_at(1), "gloo", false).group, 7u);
  // Another backend object of the same group goes on counting: the group is what ranks have in common.
  const Groups::Call call = groups->next(7, backend_at(2), "gloo", false);
  EXPECT_EQ(call.group, 7u);
  EXPECT_EQ(call.seq, 1u);
}

TEST(Groups, NameBackendsThatNobodyKnows) {
  const auto groups = std::make_unique<Groups>();
  const Groups::Call first = groups->next(0, backend_at(1), "gloo", false);
  const Groups::Call second = groups->next(0, backend_at(2), "gloo", false);
  EXPECT_NE(first.group, 0u);
  EXPECT_NE(first.group, second.group);
  EXPECT_EQ(groups->next(0, backend_at(1), "gloo", false).group, first.group);
}

TEST(Groups, BeyondTheTableShareOneCounter) {
  const auto groups = std::make_unique<Groups>();
  for (std::uint64_t group = 1; group <= 1023; ++group) groups->next(group, backend_at(1), "gloo", false);
  EXPECT_EQ(groups->next(5000, backend_at(1), "gloo", false).seq, 0u);
  const Groups::Call other = groups->next(6000, backend_at(1), "gloo", false);
  EXPECT_EQ(other.group, 6000u);
  EXPECT_EQ(other.seq, 1u);
  EXPECT_EQ(groups->next(1, backend_at(1), "gloo", false).seq, 1u);
}

TEST(Groups, GiveEveryCallOfSeveralThreadsItsOwnNumber) {
  const auto groups = std::make_unique<Groups>();
  constexpr std::uint64_t kCalls = 5000;
  std::vector<std::vector<std::uint64_t>> numbers(4);
  std::vector<std::thread> threads;
  threads.reserve(numbers.size());
  for (auto& own : numbers) {
    threads.emplace_back([&groups, &own] {
      for (std::uint64_t i = 0; i < kCalls; ++i) own.push_back(groups->next(7, backend_at(1), "gloo", false).seq);
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::set<std::uint64_t> all;
  for (const auto& own : numbers) all.insert(own.begin(), own.end());
  EXPECT_EQ(all.size(), 4 * kCalls);
  EXPECT_EQ(*all.rbegin(), 4 * kCalls - 1);
}

}  // namespace
}  // namespace plumbline::shim
