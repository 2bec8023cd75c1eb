#include "checks/head_logits.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "checks/testing/capture_job.hpp"

namespace plumbline::checks {
namespace {

using recorder::Dtype;

RawTensor floats(const std::vector<float>& values) { return {Dtype::kFloat32, testing::bytes_of(values)}; }

// Two classes of two weights each, without a bias.
double first_logit(const std::string& detail, double* bound = nullptr) {
  const RawTensor hidden = floats({1, 2.00390625F, 3, 4});
  const RawTensor weight = floats({1, 1, -1, 0.5F});
  const Detail read(detail);
  const HeadSettings settings = head_settings(read);
  HeadLogits logits(hidden, weight, {}, 2, settings, read);
  std::vector<double> row;
  const double one = logits.row(0, row);
  if (bound != nullptr) *bound = one;
  return row.at(0);
}

TEST(HeadLogitsTest, ProjectsARow) {
  const RawTensor hidden = floats({1, 2, 3, 4});
  const RawTensor weight = floats({1, 1, -1, 0.5F, 0, 2});
  const Detail detail("{}");
  const HeadSettings settings = head_settings(detail);
  HeadLogits logits(hidden, weight, floats({0, 10, 0}), 2, settings, detail);
  std::vector<double> row;
  EXPECT_GT(logits.row(1, row), 0);
  EXPECT_EQ(logits.classes(), 3u);
  EXPECT_EQ(row, (std::vector<double>{7, 9, 8}));
}

TEST(HeadLogitsTest, SettingsActOnTheLogits) {
  const double plain = first_logit("{}");
  EXPECT_DOUBLE_EQ(plain, 3.00390625);
  EXPECT_DOUBLE_EQ(first_logit(R"({"arguments":{"temperature":2.0}})"), plain / 2);
  EXPECT_DOUBLE_EQ(first_logit(R"({"arguments":{"logit_scale":0.25}})"), plain / 4);
  EXPECT_DOUBLE_EQ(first_logit(R"({"arguments":{"softcap":1.5}})"), 1.5 * std::tanh(plain / 1.5));
}

TEST(HeadLogitsTest, AnAutocastRoundsWhatIsMultiplied) {
  double narrow = 0;
  double plain = 0;
  double coarse = 0;
  first_logit("{}", &plain);
  // 2.00390625 has nine bits.
  EXPECT_DOUBLE_EQ(first_logit(R"({"autocast":"bfloat16"})", &narrow), 3);
  first_logit(R"({"tf32":true})", &coarse);
  EXPECT_GT(narrow, 1000 * plain);
  EXPECT_GT(coarse, 100 * plain);
}

TEST(HeadLogitsTest, ArgumentsThatChangeTheLossAreNamed) {
  const HeadSettings settings = head_settings(
      Detail(R"({"arguments":{"reduction":"sum","label_smoothing":0.1,"ignore_index":-1,"shift":true,"z_loss":0},
                 "more":["class_weight"]})"));
  EXPECT_EQ(settings.reduction, "sum");
  EXPECT_EQ(settings.label_smoothing, 0.1);
  EXPECT_EQ(settings.ignore_index, -1);
  EXPECT_EQ(settings.unknown, (std::vector<std::string>{"shift", "class_weight"}));
}

}  // namespace
}  // namespace plumbline::checks
