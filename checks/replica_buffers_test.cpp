#include "checks/replica_buffers.hpp"

#include <gtest/gtest.h>

#include "checks/testing/captured_run.hpp"

namespace plumbline::checks {
namespace {

using namespace testing;

// What one rank has in a buffer at each captured step.
using Values = std::vector<std::vector<float>>;

struct Seen {
  std::vector<Finding> findings;
  std::size_t compared = 0;
};

Seen seen(const std::vector<Values>& ranks, bool declared = true, Dtype dtype = Dtype::kFloat32,
          const std::vector<BatchSet>& sets = {}) {
  const TempDir directory;
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    FakeRank trace(directory.path(), static_cast<int>(rank), static_cast<int>(ranks.size()));
    trace.exit(0);
    TensorPlace place;
    place.detail = R"({"module":"Rotary"})";
    place.hashed = true;
    for (std::size_t other = 0; other < ranks.size() && declared; ++other)
      place.replicas.push_back(static_cast<std::int32_t>(other));
    CaptureJob job(directory.path(), static_cast<int>(rank));
    for (std::size_t step = 0; step < ranks[rank].size(); ++step) {
      const std::vector<float>& values = ranks[rank][step];
      job.step_note(static_cast<std::int64_t>(step), "SGD", {R"({"settings":{"lr":0.1},"params":[]})"});
      job.tensor("param.before", "weight", static_cast<std::int64_t>(step), Dtype::kFloat32, {1},
                 bytes_of(std::vector<float>{1}));
      job.tensor("buffer", "rope.inv_freq", static_cast<std::int64_t>(step), dtype, {values.size()}, bytes_of(values),
                 place);
    }
    job.finish();
  }
  CapturedRun all(directory);
  Observations observations;
  Seen result;
  result.compared = examine_buffers(captured_steps(all.captures()), all.loader, sets, observations);
  result.findings = observations.findings(all.subject);
  return result;
}

TEST(ReplicaBuffersTest, EqualOnesPass) {
  const Seen one = seen({{{1, 2}, {1, 2}}, {{1, 2}, {1, 2}}});
  EXPECT_TRUE(one.findings.empty());
  EXPECT_EQ(one.compared, 1U);
}

TEST(ReplicaBuffersTest, AConstantThatDiffersIsNamed) {
  const Seen one = seen({{{1, 2}, {1, 2}}, {{1, 3}, {1, 3}}, {{1, 3}, {1, 3}}});
  ASSERT_EQ(one.findings.size(), 1U);
  EXPECT_EQ(one.findings[0].title,
            "step 0, ranks 0-2: rope.inv_freq is a buffer with other values on its replicas, and does not change with "
            "the batch");
  EXPECT_EQ(one.findings[0].status, Status::kFail);
  EXPECT_EQ(one.findings[0].details[0], "element 1: 2 on rank 0, 3 on rank 1");
  EXPECT_EQ(one.findings[0].details[1], "it belongs to a module of the class Rotary");
}

// Running statistics of each rank's own batches.
TEST(ReplicaBuffersTest, WhatChangesDependsOnTheBatch) {
  EXPECT_TRUE(seen({{{1, 2}, {1, 2}}, {{1, 3}, {1, 4}}}).findings.empty());
  EXPECT_EQ(seen({{{1, 2}, {1, 3}}, {{1, 2}, {1, 3}}}).compared, 0U);
}

TEST(ReplicaBuffersTest, OneStepDoesNotTell) { EXPECT_TRUE(seen({{{1, 2}}, {{1, 3}}}).findings.empty()); }

TEST(ReplicaBuffersTest, TablesOfOtherLengthsAreNotCompared) {
  const Seen one = seen({{{1, 2}, {1, 2}}, {{1, 2, 3}, {1, 2, 3}}});
  EXPECT_TRUE(one.findings.empty());
  EXPECT_EQ(one.compared, 0U);
}

TEST(ReplicaBuffersTest, WholeNumbersMayBeTheRanksOwn) {
  const Seen one = seen({{{0}, {0}}, {{1}, {1}}}, true, Dtype::kInt32);
  ASSERT_EQ(one.findings.size(), 1U);
  EXPECT_EQ(one.findings[0].status, Status::kInconclusive);
}

TEST(ReplicaBuffersTest, WhatNobodyDeclaresIsOpen) {
  const std::vector<Values> apart{{{1, 2}, {1, 2}}, {{1, 3}, {1, 3}}};
  EXPECT_TRUE(seen(apart, false).findings.empty()) << "nothing says that the ranks hold one model";
  const Seen one = seen(apart, false, Dtype::kFloat32, {{{0, 1}, false}});
  ASSERT_EQ(one.findings.size(), 1U);
  EXPECT_EQ(one.findings[0].status, Status::kInconclusive);
}

}  // namespace
}  // namespace plumbline::checks
