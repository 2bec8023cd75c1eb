#include "checks/failed_allocations.hpp"

#include <gtest/gtest.h>

#include "checks/testing/fake_rank.hpp"

namespace plumbline::checks {
namespace {

using reader::testing::open_run;
using reader::testing::TempDir;
using testing::FakeRank;
using testing::Source;

constexpr std::uint64_t kGiB = std::uint64_t{1} << 30;

Verdict verdict_of(const TempDir& directory) {
  const reader::Run run = open_run(directory.path());
  return check_failed_allocations(Subject(run));
}

TEST(FailedAllocationsTest, GrantedRequestsPass) {
  const TempDir directory;
  FakeRank rank(directory.path(), 0, 1);
  rank.step(1, 2);
  rank.alloc(1, 0x1000, 4096);
  rank.exit(0);
  EXPECT_EQ(verdict_of(directory).status, Status::kPass);
}

TEST(FailedAllocationsTest, WithoutAllocationsItIsNotEvaluated) {
  const TempDir directory;
  FakeRank rank(directory.path(), 0, 1);
  rank.step(1, 2);
  rank.exit(0);
  EXPECT_EQ(verdict_of(directory).status, Status::kNotEvaluated);
}

TEST(FailedAllocationsTest, ARefusedRequestIsToldWithItsSizeAndWhatWasHeld) {
  const TempDir directory;
  FakeRank rank(directory.path(), 3, 4);
  rank.step(1, 2);
  rank.alloc(3, 0x1000, 60 * kGiB, Source::kCachingBlock, 0);
  rank.fail(4, 20 * kGiB, Source::kCachingBlock, 0);
  rank.fail(5, 21 * kGiB, Source::kCachingBlock, 0);
  rank.exit(1);
  const Verdict verdict = verdict_of(directory);
  EXPECT_EQ(verdict.status, Status::kFail);
  ASSERT_EQ(verdict.findings.size(), 1U);
  const Finding& finding = verdict.findings[0];
  EXPECT_EQ(finding.title, "rank 3: a request for 20.0 GiB failed (caching_block, device 0) at 0.004 s, step 1");
  ASSERT_EQ(finding.details.size(), 2U);
  EXPECT_EQ(finding.details[0], "held then: 60.0 GiB from the same source");
  EXPECT_EQ(finding.details[1], "1 more request failed after it");
  EXPECT_EQ(finding.evidence.size(), 2U);
}

// The caching allocator frees its cache and asks again: the job does not notice.
TEST(FailedAllocationsTest, ACudaMallocThatIsGrantedLaterIsNoFault) {
  const TempDir directory;
  FakeRank rank(directory.path(), 0, 1);
  rank.step(1, 2);
  rank.fail(3, 2 * kGiB, Source::kCudaMalloc, 0);
  rank.alloc(4, 0x1000, 2 * kGiB, Source::kCudaMalloc, 0);
  rank.exit(0);
  EXPECT_EQ(verdict_of(directory).status, Status::kPass);
}

TEST(FailedAllocationsTest, ACudaMallocThatIsNeverGrantedIsOne) {
  const TempDir directory;
  FakeRank rank(directory.path(), 0, 1);
  rank.step(1, 2);
  rank.alloc(2, 0x1000, 4 * kGiB, Source::kCudaMalloc, 0);
  rank.fail(3, 2 * kGiB, Source::kCudaMalloc, 0);
  rank.alloc(4, 0x2000, kGiB, Source::kCudaMalloc, 0);
  rank.exit(1);
  EXPECT_EQ(verdict_of(directory).status, Status::kFail);
}

TEST(FailedAllocationsTest, AHostRequestIsNotForgivenByALaterOne) {
  const TempDir directory;
  FakeRank rank(directory.path(), 0, 1);
  rank.step(1, 2);
  rank.fail(3, 2 * kGiB);
  rank.alloc(4, 0x1000, 2 * kGiB);
  rank.exit(0);
  EXPECT_EQ(verdict_of(directory).status, Status::kFail);
}

}  // namespace
}  // namespace plumbline::checks
