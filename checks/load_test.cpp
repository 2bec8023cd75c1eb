#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "checks/state_checks.hpp"
#include "reader/checkpoint/testing/checkpoint_files.hpp"

namespace plumbline::checks {
namespace {

using reader::Checkpoint;
using reader::DType;
using reader::Scalar;
using reader::testing::checkpoint_of;
using reader::testing::tensor;
using reader::testing::tensor_of;
using reader::testing::TensorData;

std::vector<TensorData> model(const std::string& prefix = "", unsigned seed = 1) {
  return {tensor(prefix + "embed_tokens.weight", {16, 8}, seed), tensor(prefix + "layers.0.q.weight", {8, 8}, seed + 1),
          tensor(prefix + "layers.0.k.weight", {8, 8}, seed + 2),
          tensor_of(prefix + "norm.weight", {8}, std::vector<float>(8, 1.0F)),
          tensor(prefix + "lm_head.weight", {16, 8}, seed + 3)};
}

Verdict load(const Checkpoint& subject, const Checkpoint& reference, const Checkpoint* before = nullptr) {
  return check_load({&subject, &reference, before});
}

TEST(LoadTest, TheOriginalsParametersPass) {
  const Verdict verdict = load(checkpoint_of(model()), checkpoint_of(model()));
  EXPECT_EQ(verdict.status, Status::kPass);
  EXPECT_EQ(verdict.reason, "all 5 tensors equal the original bit for bit");
}

TEST(LoadTest, WhatATemplateDoesNotNameStaysOpen) {
  std::vector<TensorData> fused = model();
  fused[1] = tensor("layers.0.qk.weight", {16, 8}, 2);
  fused.erase(fused.begin() + 2);
  const Checkpoint subject = checkpoint_of(fused);
  const Checkpoint reference = checkpoint_of(model());
  EXPECT_EQ(load(subject, reference).status, Status::kFail);
  StateInputs inputs{&subject, &reference};
  inputs.unnamed = {"layers.0.qk.weight"};
  const Verdict open = check_load(inputs);
  EXPECT_EQ(open.status, Status::kInconclusive);
  EXPECT_EQ(open.reason,
            "the template's [names] have no word for 1 tensor of the module (layers.0.qk.weight), so that 2 tensors of "
            "the file were not compared: layers.0.k.weight, layers.0.q.weight");
  // A tensor that the template does name is missing all the same.
  inputs.unnamed = {"layers.1.qk.weight"};
  EXPECT_EQ(check_load(inputs).status, Status::kFail);
}

TEST(LoadTest, AWrapperOrPrefixAloneIsNoFault) {
  EXPECT_EQ(load(checkpoint_of(model("module.")), checkpoint_of(model())).status, Status::kPass);
}

TEST(LoadTest, ANamedCastPasses) {
  std::vector<TensorData> narrow = model();
  for (TensorData& one : narrow) {
    std::vector<float> values(one.bytes.size() / 4);
    read_floats(DType::kF32, one.bytes, 0, values);
    one = tensor_of(one.name, one.shape, values, DType::kBF16);
  }
  const Verdict verdict = load(checkpoint_of(narrow), checkpoint_of(model()));
  EXPECT_EQ(verdict.status, Status::kPass);
  EXPECT_EQ(verdict.reason,
            "all 5 tensors equal the original, 5 of them after a cast (F32 became BF16, rounded to the "
            "nearest)");
}

TEST(LoadTest, KeysOfAnotherPrefixAreNotLoaded) {
  const Checkpoint before = checkpoint_of(model("", 50));
  const Checkpoint file = checkpoint_of(model("model."));
  const Verdict verdict = load(checkpoint_of(model("", 50)), file, &before);
  EXPECT_EQ(verdict.status, Status::kFail);
  EXPECT_EQ(verdict.reason,
            "0 of 5 tensors were written by the load; 5 equal the fresh initialisation bit for bit; file "
            "keys start with \"model.\", module keys do not");
  const Verdict without = load(checkpoint_of(model("", 50)), file);
  EXPECT_EQ(without.status, Status::kFail);
  EXPECT_NE(without.reason.find("0 of 5 tensors were written by the load; 4 have values that are not the file's"),
            std::string::npos)
      << without.reason;
}

TEST(LoadTest, OneTensorThatWasInitialisedAnew) {
  std::vector<TensorData> mine = model();
  mine[4] = tensor("lm_head.weight", {16, 8}, 99);
  const Verdict verdict = load(checkpoint_of(mine), checkpoint_of(model()));
  EXPECT_EQ(verdict.status, Status::kFail);
  EXPECT_EQ(verdict.reason,
            "1 of 5 tensors of the module have values that have nothing in common with the file's, as "
            "after a fresh initialisation: lm_head.weight");
}

TEST(LoadTest, ExchangedTensors) {
  std::vector<TensorData> mine = model();
  std::swap(mine[1].bytes, mine[2].bytes);
  const Verdict verdict = load(checkpoint_of(mine), checkpoint_of(model()));
  ASSERT_EQ(verdict.status, Status::kFail);
  EXPECT_EQ(verdict.reason,
            "2 of 5 tensors of the module hold what belongs to another name: layers.0.k.weight, layers.0.q.weight");
  EXPECT_EQ(verdict.findings[0].details[0], "layers.0.k.weight: holds the file's layers.0.q.weight");
}

TEST(LoadTest, NaNThatWasFilledInBeforeTheLoad) {
  std::vector<TensorData> mine = model();
  mine[3] = tensor_of("norm.weight", {8}, std::vector<float>(8, std::numeric_limits<float>::quiet_NaN()));
  const Verdict verdict = load(checkpoint_of(mine), checkpoint_of(model()));
  EXPECT_EQ(verdict.reason, "1 of 5 tensors of the module hold nothing but NaN: they were never written: norm.weight");
}

TEST(LoadTest, AHeadThatIsTiedInTheModuleAlone) {
  std::vector<TensorData> mine = model();
  mine.pop_back();
  const Verdict differs = load(checkpoint_of(mine), checkpoint_of(model()));
  EXPECT_EQ(
      differs.reason,
      "lm_head.weight of the file is not in the module, which ties it to embed_tokens.weight; in the file they differ");
  std::vector<TensorData> tied = model();
  tied[4].bytes = tied[0].bytes;
  EXPECT_EQ(load(checkpoint_of(mine), checkpoint_of(tied)).status, Status::kPass);
  const Verdict untied =
      load(checkpoint_of(mine, {{"config.tie_word_embeddings", Scalar(false)}}), checkpoint_of(tied));
  EXPECT_EQ(untied.status, Status::kFail);
}

TEST(LoadTest, MissingAndUnexpectedKeys) {
  std::vector<TensorData> mine = model();
  mine[1].name = "layers.9.q.weight";
  const Verdict verdict = load(checkpoint_of(mine), checkpoint_of(model()));
  ASSERT_EQ(verdict.findings.size(), 2U);
  EXPECT_EQ(verdict.findings[0].title, "1 of the file's 5 tensors are not in the module: layers.0.q.weight");
  EXPECT_EQ(verdict.findings[1].title,
            "1 tensor of the module are not in the file, so that nothing was loaded into them: layers.9.q.weight");
}

TEST(LoadTest, ConfigFieldByField) {
  const Checkpoint subject = checkpoint_of(model(), {{"config.rope_theta", Scalar(10000.0)},
                                                     {"config.heads", Scalar(std::int64_t{4})},
                                                     {"config.transformers_version", Scalar(std::string("5"))}});
  const Checkpoint reference = checkpoint_of(model(), {{"config.rope_theta", Scalar(1000000.0)},
                                                       {"config.heads", Scalar(4.0)},
                                                       {"config.transformers_version", Scalar(std::string("4"))}});
  const Verdict verdict = load(subject, reference);
  EXPECT_EQ(verdict.reason, "config.json differs in 1 field: rope_theta is 10000, the reference has 1e+06")
      << "and nothing else: the number of heads is the same number";
}

TEST(LoadTest, WithoutParametersNothingIsSaid) {
  EXPECT_EQ(load(checkpoint_of(model()), checkpoint_of({})).status, Status::kNotEvaluated);
  EXPECT_EQ(load(checkpoint_of({}), checkpoint_of(model())).status, Status::kNotEvaluated);
}

TEST(LoadTest, ADamagedReferenceIsNoPass) {
  Checkpoint reference = checkpoint_of(model());
  reference.problems.push_back({reader::ProblemKind::kDamagedFile, "a", "", "a is cut off."});
  EXPECT_EQ(load(checkpoint_of(model()), reference).status, Status::kInconclusive);
}

}  // namespace
}  // namespace plumbline::checks
