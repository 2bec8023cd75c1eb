#include "checks/coverage.hpp"

#include <gtest/gtest.h>

#include "checks/testing/fake_rank.hpp"

namespace plumbline::checks {
namespace {

using reader::testing::open_run;
using reader::testing::TempDir;
using testing::FakeRank;
using testing::Op;

struct Covered {
  Verdict verdict;
  std::vector<CoverageGap> gaps;
};

Covered coverage_of(const TempDir& directory) {
  const reader::Run run = open_run(directory.path());
  const Subject subject(run);
  return {check_coverage(subject), coverage_gaps(subject)};
}

const CoverageGap* gap_about(const Covered& covered, std::string_view words) {
  for (const CoverageGap& gap : covered.gaps) {
    if (gap.what.find(words) != std::string::npos) return &gap;
  }
  return nullptr;
}

// Two ranks with a whole collective each; `rank1` may do something more with the second one.
template <class More>
void train(const TempDir& directory, const More& rank1) {
  for (const int number : {0, 1}) {
    FakeRank rank(directory.path(), number, 2);
    const auto call =
        rank.call(1, rank.group("0", "default_pg", "0,1"), Op::kAllReduce, {.site = "train.py:3 in main"});
    rank.start(2, call);
    rank.end(3, call);
    if (number == 1) rank1(rank);
    rank.exit(0);
  }
}

TEST(CoverageTest, AWholeRunHasNoGap) {
  const TempDir directory;
  train(directory, [](FakeRank&) {});
  const Covered covered = coverage_of(directory);
  EXPECT_EQ(covered.verdict.status, Status::kPass);
  EXPECT_TRUE(covered.gaps.empty()) << covered.gaps.front().what;
}

TEST(CoverageTest, AMissingAdapterIsGraveAndSaysWhy) {
  const TempDir directory;
  train(directory, [](FakeRank& rank) {
    rank.trace().fact("adapter.state", "missing");
    rank.trace().fact("adapter.reason", "none is built for torch 2.11.0");
    rank.trace().fact("adapter.remedy", "plumbline build-adapter");
  });
  const Covered covered = coverage_of(directory);
  EXPECT_EQ(covered.verdict.status, Status::kInconclusive);
  ASSERT_EQ(covered.verdict.unknown.size(), 1U);
  EXPECT_EQ(covered.verdict.unknown[0],
            "rank 1: no torch adapter: collectives lack sizes and groups, optimizer steps and ranges are not recorded "
            "(none is built for torch 2.11.0); remedy: plumbline build-adapter");
}

TEST(CoverageTest, DroppedEventsAreGrave) {
  const TempDir directory;
  train(directory, [](FakeRank& rank) { rank.trace().drop(recorder::Kind::kCollective, 12); });
  const Covered covered = coverage_of(directory);
  EXPECT_EQ(covered.verdict.status, Status::kInconclusive);
  const CoverageGap* gap = gap_about(covered, "events were dropped");
  ASSERT_NE(gap, nullptr);
  EXPECT_EQ(gap->ranks, std::vector<std::int32_t>{1});
}

TEST(CoverageTest, AHookThatIsOffIsADetail) {
  const TempDir directory;
  train(directory, [](FakeRank& rank) {
    recorder::HookCountRow row;
    row.name = "NCCL C API";
    row.detail = "NCCL is linked statically";
    rank.trace().hooks(rank.at(5), {row});
  });
  const Covered covered = coverage_of(directory);
  EXPECT_EQ(covered.verdict.status, Status::kPass);
  EXPECT_EQ(covered.verdict.unknown.at(0), "rank 1: NCCL C API: not hooked, NCCL is linked statically");
}

TEST(CoverageTest, RanksWithoutATraceAreNamed) {
  const TempDir directory;
  FakeRank rank(directory.path(), 0, 3);
  rank.whole_call(1, 2, rank.group("0", "default_pg", "0,1,2"), Op::kBarrier);
  rank.exit(0);
  const Covered covered = coverage_of(directory);
  EXPECT_EQ(covered.verdict.status, Status::kInconclusive);
  EXPECT_NE(gap_about(covered, "no trace of ranks 1,2"), nullptr);
  EXPECT_NE(gap_about(covered, "starts of collectives are not recorded"), nullptr);
  EXPECT_NE(gap_about(covered, "lines of the script"), nullptr);
}

TEST(CoverageTest, AnImportedFileSaysWhatItsFormatLacks) {
  const TempDir directory;
  FakeRank rank(directory.path(), 0, 1);
  rank.trace().fact("source.format", "flight_recorder");
  rank.trace().fact("source.lacks", "reduce op, root, allocations");
  rank.whole_call(1, 2, rank.group("0", "default_pg", "0"), Op::kAllReduce);
  rank.exit(0);
  const Covered covered = coverage_of(directory);
  EXPECT_EQ(covered.verdict.status, Status::kPass);
  ASSERT_EQ(covered.gaps.size(), 1U);
  EXPECT_EQ(covered.gaps[0].what, "imported from flight_recorder, which does not say: reduce op, root, allocations");
}

TEST(CoverageTest, ClocksThatNothingAlignsAreUncertain) {
  const TempDir directory;
  for (const int number : {0, 1}) {
    FakeRank rank(directory.path(), number, 2,
                  {.host = number == 0 ? "node1" : "node2", .boot_id = number == 0 ? "boot-a" : "boot-b"});
    rank.step(1, 2);
    rank.exit(0);
  }
  EXPECT_NE(gap_about(coverage_of(directory), "the clock of node2"), nullptr);
}

}  // namespace
}  // namespace plumbline::checks
