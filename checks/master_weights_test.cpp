#include "checks/master_weights.hpp"

#include <gtest/gtest.h>

#include "checks/element_values.hpp"
#include "checks/testing/captured_run.hpp"

namespace plumbline::checks {
namespace {

using namespace testing;

// Float32 masters of one bfloat16 parameter at each step, and what the model has then.
std::vector<Finding> findings(const std::vector<std::vector<double>>& masters,
                              const std::vector<std::vector<double>>& models) {
  const TempDir directory;
  write_trace(directory.path());
  CaptureJob job(directory.path(), 0);
  for (std::size_t step = 0; step < masters.size(); ++step) {
    const auto at = static_cast<std::int64_t>(step);
    const std::vector<float> wide(masters[step].begin(), masters[step].end());
    job.step_note(at, "SGD", {R"({"settings":{"lr":0.1},"params":["optimizer0.group0.param0"]})"});
    job.tensor("param.before", "optimizer0.group0.param0", at, Dtype::kFloat32, {2}, bytes_of(wide));
    job.tensor("param.after", "optimizer0.group0.param0", at, Dtype::kFloat32, {2}, bytes_of(wide));
    job.tensor("model.param", "up.weight", at, Dtype::kBfloat16, {2}, testing::bfloat16_bytes(models[step]));
  }
  job.finish();
  CapturedRun all(directory);
  Observations observations;
  examine_master_weights(all.subject, all.loader, captured_steps(all.captures()), observations);
  return observations.findings(all.subject);
}

TEST(MasterWeightsTest, AModelThatFollowsItsMastersIsSilent) {
  EXPECT_TRUE(findings({{1, 2}, {1.25, 2.5}, {1.5, 3}}, {{1, 2}, {1.25, 2.5}, {1.5, 3}}).empty());
  // Less than the model's type can hold.
  EXPECT_TRUE(findings({{1, 2}, {1.0001, 2.0001}}, {{1, 2}, {1, 2}}).empty());
}

TEST(MasterWeightsTest, AModelThatStaysBehind) {
  const auto found = findings({{1, 2}, {1.0001, 2}, {1.5, 2}}, {{1, 2}, {1, 2}, {1, 2}});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(
      found[0].title,
      "step 2, rank 0: up.weight is what it was at step 0, though the float32 copy that is stepped has moved: it is "
      "not copied back");
  EXPECT_EQ(found[0].details[0],
            "1 of 2 captured elements of optimizer0.group0.param0, rounded to bfloat16, are others than the model's");
}

TEST(MasterWeightsTest, OtherParametersAreNoMasters) {
  EXPECT_TRUE(findings({{1, 3}, {1.5, 3}}, {{1, 2}, {1, 2}}).empty());
  // What changes in its own way may be rounded in another one.
  EXPECT_TRUE(findings({{1, 2}, {1.5, 3}}, {{1, 2}, {1.25, 3}}).empty());
}

}  // namespace
}  // namespace plumbline::checks
