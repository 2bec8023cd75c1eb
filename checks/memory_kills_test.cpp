#include "checks/memory_kills.hpp"

#include <gtest/gtest.h>

#include "checks/crash.hpp"
#include "checks/testing/fake_rank.hpp"
#include "checks/testing/verdicts.hpp"

namespace plumbline::checks {
namespace {

using reader::testing::TempDir;
using testing::all_of;
using testing::FakeRank;

// Rank 1 is killed; rank 0 sees the counts of its memory group.
Verdict crash_with(std::initializer_list<std::pair<double, std::int64_t>> counts, std::string_view host1 = "node1") {
  const TempDir directory;
  FakeRank rank0(directory.path(), 0, 2);
  for (const auto& [ms, count] : counts) rank0.memory_kills(ms, count);
  rank0.step(5000, 5001);
  rank0.exit(1, 0, "RuntimeError", "Connection closed by peer");
  testing::RankOptions options;
  options.host = host1;
  FakeRank rank1(directory.path(), 1, 2, options);
  rank1.step(10, 20);
  rank1.exit(-1, 9);
  return testing::verdict_of(check_crash, directory);
}

TEST(MemoryKillsTest, AnotherRankOfTheHostSeesTheKill) {
  const Verdict verdict = crash_with({{10, 3}, {1500, 4}});
  ASSERT_EQ(verdict.findings.size(), 1U);
  EXPECT_EQ(verdict.findings[0].ranks, std::vector<std::int32_t>{1});
  const std::string text = all_of(verdict.findings[0]);
  EXPECT_NE(text.find("the kernel killed a process of this memory group for lack of memory, seen by rank 0 at 1.500 s"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("next: give it more memory"), std::string::npos) << text;
}

TEST(MemoryKillsTest, KillsBeforeTheRunAreNotOfIt) {
  const std::string text = all_of(crash_with({{10, 3}}).findings.at(0));
  EXPECT_EQ(text.find("memory"), std::string::npos) << text;
}

TEST(MemoryKillsTest, NorAreThoseOfAnotherHost) {
  const std::string text = all_of(crash_with({{10, 3}, {1500, 4}}, "node2").findings.at(0));
  EXPECT_EQ(text.find("memory"), std::string::npos) << text;
}

}  // namespace
}  // namespace plumbline::checks
