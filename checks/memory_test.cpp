#include "checks/memory.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "checks/memory_request.hpp"
#include "checks/testing/fake_rank.hpp"

namespace plumbline::checks {
namespace {

using reader::testing::open_run;
using reader::testing::TempDir;
using recorder::StackReason;
using testing::FakeRank;
using testing::FakeStack;
using testing::Source;

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;
constexpr std::uint64_t kGiB = std::uint64_t{1} << 30;
constexpr std::uint64_t kVocabulary = 151936;

Verdict verdict_of(const TempDir& directory, const RunDimensions& dimensions = {}) {
  const reader::Run run = open_run(directory.path());
  const Subject subject(run);
  return check_memory(subject, memory_profiles(subject, false), dimensions);
}

bool says(const Finding& finding, std::string_view text) {
  return std::any_of(finding.details.begin(), finding.details.end(),
                     [&](const std::string& line) { return line.find(text) != std::string::npos; });
}

// A step of a healthy job: activations come and go, the parameters stay.
void healthy_step(FakeRank& rank, int step, std::uint64_t activation) {
  const double ms = 100.0 * step;
  const std::uint64_t forward = rank.open_range(ms + 1, "forward");
  rank.alloc(ms + 2, 0x200000000, activation);
  rank.close_range(ms + 3, forward, "forward");
  rank.free(ms + 5, 0x200000000);
  rank.step(ms + 10, ms + 20);
}

TEST(MemoryTest, GrantedRequestsPass) {
  const TempDir directory;
  FakeRank rank(directory.path(), 0, 1);
  rank.step(1, 2);
  rank.alloc(1, 0x1000, 4096);
  rank.exit(0);
  const Verdict verdict = verdict_of(directory);
  EXPECT_EQ(verdict.status, Status::kPass);
  ASSERT_EQ(verdict.unknown.size(), 1U);
  EXPECT_EQ(verdict.unknown[0], "whether memory leaks: that needs at least 8 whole steps");
}

TEST(MemoryTest, WithoutAllocationsItIsNotEvaluated) {
  const TempDir directory;
  testing::write_trace(directory.path());
  EXPECT_EQ(verdict_of(directory).status, Status::kNotEvaluated);
}

TEST(MemoryTest, ARefusedRequestIsToldWithItsPlaceAndWhatWasHeld) {
  const TempDir directory;
  FakeRank rank(directory.path(), 3, 4);
  rank.alloc(1, 0x1000, 10 * kGiB, Source::kCachingBlock, 0);
  rank.step(1, 2);
  const std::uint64_t loss = rank.open_range(3, "loss");
  rank.alloc(3.5, 0x1000000000, 50 * kGiB, Source::kCachingBlock, 0);
  FakeStack stack;
  stack.python = {{"cross_entropy", "/job/loss.py", 88}, {"step", "/job/train.py", 41}};
  stack.reason = StackReason::kFailedAllocation;
  stack.detail = 20 * kGiB;
  rank.stack(4, stack);
  rank.fail(4, 20 * kGiB, Source::kCachingBlock, 0);
  rank.fail(5, 21 * kGiB, Source::kCachingBlock, 0);
  rank.close_range(6, loss, "loss");
  rank.exit(1, 0, "OutOfMemoryError",
            "CUDA out of memory. Tried to allocate 20.00 GiB. GPU 0 has a total capacity of 79.15 GiB of which 12.50 "
            "GiB is free.");
  const Verdict verdict = verdict_of(directory);
  EXPECT_EQ(verdict.status, Status::kFail);
  ASSERT_EQ(verdict.findings.size(), 1U);
  const Finding& finding = verdict.findings[0];
  EXPECT_EQ(finding.title, "rank 3: a request for 20.0 GiB failed (caching_block, device 0) at 0.004 s, step 1");
  EXPECT_EQ(finding.details[0], "held then: 60.0 GiB from the same source");
  EXPECT_TRUE(says(finding, "asked for by job/loss.py:88 in cross_entropy"));
  EXPECT_TRUE(says(finding, "inside loss"));
  EXPECT_TRUE(says(finding, "free on the device: 12.5 GiB, so 7.5 GiB were missing"));
  EXPECT_TRUE(says(finding, "50.0 GiB in 1 block made in step 1 in loss"));
  EXPECT_TRUE(says(finding, "10.0 GiB in 1 block made before the end of step 0"));
  EXPECT_TRUE(says(finding, "1 more request failed after it"));
  EXPECT_EQ(finding.descent.line, "job/loss.py:88 in cross_entropy");
  EXPECT_EQ(finding.evidence.size(), 2U);
}

TEST(MemoryTest, RanksThatFailAlikeAreOneFinding) {
  const TempDir directory;
  for (int number = 0; number < 3; ++number) {
    FakeRank rank(directory.path(), number, 3);
    rank.step(1, 2);
    rank.fail(4, 20 * kGiB);
    rank.exit(1);
  }
  const Verdict verdict = verdict_of(directory);
  ASSERT_EQ(verdict.findings.size(), 1U);
  EXPECT_EQ(verdict.findings[0].ranks, (std::vector<std::int32_t>{0, 1, 2}));
}

// The caching allocator frees its cache and asks again: the job does not notice.
TEST(MemoryTest, ACudaMallocThatIsGrantedLaterIsNoFault) {
  const TempDir directory;
  FakeRank rank(directory.path(), 0, 1);
  rank.step(1, 2);
  rank.fail(3, 2 * kGiB, Source::kCudaMalloc, 0);
  rank.alloc(4, 0x1000, 2 * kGiB, Source::kCudaMalloc, 0);
  rank.exit(0);
  EXPECT_EQ(verdict_of(directory).status, Status::kPass);
}

TEST(MemoryTest, ACudaMallocThatIsNeverGrantedIsOne) {
  const TempDir directory;
  FakeRank rank(directory.path(), 0, 1);
  rank.alloc(2, 0x1000, 4 * kGiB, Source::kCudaMalloc, 0);
  rank.fail(3, 2 * kGiB, Source::kCudaMalloc, 0);
  rank.alloc(4, 0x2000, kGiB, Source::kCudaMalloc, 0);
  rank.exit(1);
  EXPECT_EQ(verdict_of(directory).status, Status::kFail);
}

TEST(MemoryTest, AHostRequestIsNotForgivenByALaterOne) {
  const TempDir directory;
  FakeRank rank(directory.path(), 0, 1);
  rank.fail(3, 2 * kGiB);
  rank.alloc(4, 0x1000, 2 * kGiB);
  rank.exit(0);
  const Verdict verdict = verdict_of(directory);
  ASSERT_EQ(verdict.findings.size(), 1U);
  EXPECT_TRUE(says(verdict.findings[0], "the job went on after it"));
}

TEST(MemoryTest, FragmentationIsTold) {
  const TempDir directory;
  FakeRank rank(directory.path(), 0, 1);
  rank.alloc(1, 0x10000000, 64 * kMiB, Source::kCachingSegment, 0);
  for (std::uint64_t block = 0; block < 4; ++block)
    rank.alloc(2, 0x10000000 + block * 16 * kMiB, 4 * kMiB, Source::kCachingBlock, 0);
  rank.fail(3, 24 * kMiB, Source::kCachingBlock, 0);
  rank.exit(1);
  const Verdict verdict = verdict_of(directory);
  ASSERT_EQ(verdict.findings.size(), 1U);
  EXPECT_TRUE(says(verdict.findings[0],
                   "reserved by the caching allocator: 64.0 MiB, of that in no block: 48.0 MiB, in one piece at most "
                   "12.0 MiB"));
  EXPECT_TRUE(says(verdict.findings[0], "fragmentation: the unused pieces together would have been enough"));
  EXPECT_NE(verdict.findings[0].title.find("for fragmentation"), std::string::npos) << verdict.findings[0].title;
  EXPECT_NE(verdict.findings[0].next.find("expandable_segments"), std::string::npos) << verdict.findings[0].next;
}

TEST(MemoryTest, TooLittleInAllIsNoFragmentation) {
  const TempDir directory;
  FakeRank rank(directory.path(), 0, 1);
  rank.alloc(1, 0x10000000, 64 * kMiB, Source::kCachingSegment, 0);
  for (std::uint64_t block = 0; block < 4; ++block)
    rank.alloc(2, 0x10000000 + block * 16 * kMiB, 12 * kMiB, Source::kCachingBlock, 0);
  rank.fail(3, 24 * kMiB, Source::kCachingBlock, 0);
  rank.exit(1);
  const Verdict verdict = verdict_of(directory);
  ASSERT_EQ(verdict.findings.size(), 1U);
  EXPECT_FALSE(says(verdict.findings[0], "fragmentation"));
}

TEST(MemoryTest, ALeakIsToldByItsSizeAndRange) {
  const TempDir directory;
  FakeRank rank(directory.path(), 0, 1);
  rank.alloc(0, 0x1000, 100 * kMiB);
  for (int step = 0; step < 20; ++step) {
    healthy_step(rank, step, 8 * kMiB);
    const std::uint64_t log = rank.open_range(100.0 * step + 30, "log");
    rank.alloc(100.0 * step + 31, 0x400000000 + static_cast<std::uint64_t>(step) * 0x1000000, 2 * kMiB);
    rank.close_range(100.0 * step + 32, log, "log");
  }
  rank.exit(0);
  const Verdict verdict = verdict_of(directory);
  EXPECT_EQ(verdict.status, Status::kFail);
  ASSERT_EQ(verdict.findings.size(), 1U);
  EXPECT_EQ(verdict.findings[0].title, "rank 0: every step leaves 2.0 MiB behind (cpu), steps 5 to 17");
  EXPECT_TRUE(says(verdict.findings[0], "13 blocks of 2.0 MiB, made in log"));
}

TEST(MemoryTest, StepsThatFreeWhatTheyMakeDoNotLeak) {
  const TempDir directory;
  FakeRank rank(directory.path(), 0, 1);
  rank.alloc(0, 0x1000, 100 * kMiB);
  for (int step = 0; step < 20; ++step) healthy_step(rank, step, 8 * kMiB);
  rank.exit(0);
  const Verdict verdict = verdict_of(directory);
  EXPECT_EQ(verdict.status, Status::kPass);
  EXPECT_EQ(verdict.reason, "every recorded request for memory was granted, and what is held does not grow");
}

TEST(MemoryTest, RowsThatGrowAreNoLeak) {
  const TempDir directory;
  FakeRank rank(directory.path(), 0, 1);
  for (int step = 0; step < 20; ++step) healthy_step(rank, step, (8 + static_cast<std::uint64_t>(step)) * kMiB);
  rank.exit(0);
  EXPECT_EQ(verdict_of(directory).status, Status::kPass);
}

// Results of ten steps are kept and then written out.
TEST(MemoryTest, ABufferThatIsEmptiedIsNoLeak) {
  const TempDir directory;
  FakeRank rank(directory.path(), 0, 1);
  const auto address = [](int step) { return 0x400000000 + static_cast<std::uint64_t>(step % 10) * 0x1000000; };
  for (int step = 0; step < 28; ++step) {
    healthy_step(rank, step, 8 * kMiB);
    if (step > 0 && step % 10 == 0) {
      for (int kept = 0; kept < 10; ++kept) rank.free(100.0 * step + 30, address(kept));
    }
    rank.alloc(100.0 * step + 31, address(step), 2 * kMiB);
  }
  rank.exit(0);
  EXPECT_EQ(verdict_of(directory).status, Status::kPass);
}

// A cache of the first shapes fills while they are new.
TEST(MemoryTest, ACacheThatFillsInTheFirstStepsIsNoLeak) {
  const TempDir directory;
  FakeRank rank(directory.path(), 0, 1);
  for (int step = 0; step < 24; ++step) {
    healthy_step(rank, step, 8 * kMiB);
    if (step < 6 || step == 11)
      rank.alloc(100.0 * step + 31, 0x400000000 + 0x1000000u * static_cast<unsigned>(step), kMiB);
  }
  rank.exit(0);
  EXPECT_EQ(verdict_of(directory).status, Status::kPass);
}

RunDimensions dimensions_with_lengths(const std::vector<std::uint64_t>& lengths) {
  RunDimensions dimensions;
  dimensions.fixed = {{"vocabulary", kVocabulary}, {"hidden", 3584}, {"heads", 28}};
  for (std::size_t step = 0; step < lengths.size(); ++step)
    dimensions.shapes.push_back(
        {static_cast<std::int64_t>(step), -1, {{"batch", 3 + step % 2}, {"length", lengths[step]}}});
  return dimensions;
}

// The longest row of a batch sets the size of the logits.
TEST(MemoryTest, TheFailingRequestIsExplainedByTheRowLength) {
  const TempDir directory;
  const std::vector<std::uint64_t> lengths = {701, 1103, 997, 10601};
  const RunDimensions dimensions = dimensions_with_lengths(lengths);
  FakeRank rank(directory.path(), 0, 1);
  for (int step = 0; step < 3; ++step) {
    const std::uint64_t rows = lengths[static_cast<std::size_t>(step)] * (3 + static_cast<std::uint64_t>(step) % 2);
    rank.alloc(100.0 * step + 1, 0x100000000, rows * 3584 * 2);
    rank.alloc(100.0 * step + 2, 0x1000000000, rows * kVocabulary * 4);
    rank.free(100.0 * step + 3, 0x1000000000);
    rank.free(100.0 * step + 4, 0x100000000);
    rank.step(100.0 * step + 10, 100.0 * step + 20);
  }
  rank.fail(330, 4 * 10601 * kVocabulary * 4);
  rank.exit(1);
  const Verdict verdict = verdict_of(directory, dimensions);
  ASSERT_EQ(verdict.findings.size(), 1U);
  const Finding& finding = verdict.findings[0];
  EXPECT_TRUE(says(finding, "25770776576 B = 4 x 10601 x 151936 x 4 B: batch x length x vocabulary x 4 B"));
  EXPECT_TRUE(says(finding, "the formula fits this request and all 3 steps whose shape is known"));
  EXPECT_TRUE(says(finding,
                   "grows linearly with the row length: at length = 10601 it is 24.0 GiB, at 10602 24.0 GiB "
                   "(+2.3 MiB), at twice as much 48.0 GiB"));
  EXPECT_FALSE(says(finding, "not told apart"));
}

// What the embedding was given is recorded: nothing has to be told about the run.
TEST(MemoryTest, RecordedBatchesExplainTheFailingRequest) {
  const TempDir directory;
  FakeRank rank(directory.path(), 0, 1);
  rank.trace().fact("model.vocabulary", std::to_string(kVocabulary));
  rank.trace().fact("model.hidden", "3584");
  for (int step = 0; step < 3; ++step) {
    const std::int64_t length = step == 1 ? 1103 : 701;
    rank.batch(100.0 * step + 1, 3 + step, length);
    rank.alloc(100.0 * step + 2, 0x1000000000, static_cast<std::uint64_t>((3 + step) * length) * kVocabulary * 4);
    rank.free(100.0 * step + 3, 0x1000000000);
    rank.step(100.0 * step + 10, 100.0 * step + 20);
  }
  rank.batch(320, 4, 10601);
  rank.fail(330, 4 * 10601 * kVocabulary * 4);
  rank.exit(1);
  const Verdict verdict = verdict_of(directory);
  ASSERT_EQ(verdict.findings.size(), 1U);
  const Finding& finding = verdict.findings[0];
  EXPECT_TRUE(says(finding, "the batch then: 4 rows of 10601 tokens, the longest so far (before it at most 1103)"));
  EXPECT_TRUE(says(finding, "25770776576 B = 4 x 10601 x 151936 x 4 B: batch x length x vocabulary x 4 B"));
  EXPECT_TRUE(says(finding, "the formula fits this request and all 3 steps whose shape is known"));
}

TEST(MemoryTest, WithoutARecordedLengthTheRowsComeOutOfTheSize) {
  const TempDir directory;
  FakeRank rank(directory.path(), 0, 1);
  rank.fail(4, 84805 * kVocabulary * 4);
  rank.exit(1);
  RunDimensions dimensions;
  dimensions.fixed = {{"vocabulary", kVocabulary}, {"hidden", 3584}};
  const Verdict verdict = verdict_of(directory, dimensions);
  ASSERT_EQ(verdict.findings.size(), 1U);
  EXPECT_TRUE(says(verdict.findings[0], "84805 x 151936 x 4 B: rows x vocabulary x 4 B"));
}

TEST(MemoryRequestTest, BytesAreReadFromMessages) {
  EXPECT_EQ(parse_bytes("12.50 GiB is free"), std::uint64_t{13421772800});
  EXPECT_EQ(parse_bytes("17 bytes"), 17U);
  EXPECT_EQ(parse_bytes("much"), std::nullopt);
  EXPECT_EQ(parse_bytes("1 furlong"), std::nullopt);
}

}  // namespace
}  // namespace plumbline::checks
