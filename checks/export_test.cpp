#include <gtest/gtest.h>

#include "checks/state_checks.hpp"
#include "reader/checkpoint/testing/checkpoint_files.hpp"
#include "reader/testing/records.hpp"

namespace plumbline::checks {
namespace {

using reader::Checkpoint;
using reader::DType;
using reader::Scalar;
using reader::testing::checkpoint_of;
using reader::testing::tensor;
using reader::testing::TensorData;

std::vector<TensorData> model() {
  return {tensor("embed_tokens.weight", {16, 8}, 1), tensor("layers.0.q.weight", {8, 8}, 2),
          tensor("layers.0.norm.weight", {8}, 3), tensor("lm_head.weight", {16, 8}, 4)};
}

std::vector<TensorData> without(std::size_t index) {
  std::vector<TensorData> tensors = model();
  tensors.erase(tensors.begin() + static_cast<std::ptrdiff_t>(index));
  return tensors;
}

std::vector<TensorData> tied() {
  std::vector<TensorData> tensors = model();
  tensors[3].bytes = tensors[0].bytes;
  return tensors;
}

Verdict exported(const Checkpoint& subject, const Checkpoint& reference) {
  return check_export({&subject, &reference, nullptr});
}
Verdict exported(std::vector<TensorData> subject) {
  return exported(checkpoint_of(std::move(subject)), checkpoint_of(model()));
}

TEST(ExportTest, TheSameBitsPass) {
  const Verdict verdict = exported(model());
  EXPECT_EQ(verdict.status, Status::kPass);
  EXPECT_EQ(verdict.reason, "all 4 tensors equal the original bit for bit (1.3 KiB)");
}

TEST(ExportTest, EmptyPlaceholders) {
  std::vector<TensorData> empty = model();
  for (TensorData& one : empty) one = tensor(one.name, {0}, 1);
  const Verdict verdict = exported(empty);
  EXPECT_EQ(verdict.reason,
            "exported file: 0 of 4 tensors have elements (shape [0]); expected about 1.3 KiB F32, found 0 B; "
            "as when one rank exports without a gather before it");
  EXPECT_EQ(verdict.findings.size(), 1U);
}

TEST(ExportTest, NothingAtAll) {
  EXPECT_NE(exported(std::vector<TensorData>{}).reason.find("exported file: 0 of 4 tensors have elements; expected"),
            std::string::npos);
}

TEST(ExportTest, ATiedHeadMayBeLeftOut) {
  EXPECT_EQ(exported(checkpoint_of(without(3)), checkpoint_of(tied())).status, Status::kPass);
  EXPECT_EQ(exported(checkpoint_of(without(3)), checkpoint_of(without(3))).status, Status::kPass);
  EXPECT_EQ(exported(checkpoint_of(tied()), checkpoint_of(without(3))).status, Status::kPass)
      << "written out although the original shares it";
}

TEST(ExportTest, AHeadThatIsNoAliasMayNot) {
  const Verdict verdict = exported(without(3));
  EXPECT_EQ(verdict.reason,
            "lm_head.weight was dropped as if it were tied to embed_tokens.weight, from which it differs in "
            "the original: a loader puts the embedding in its place");
}

TEST(ExportTest, AnAliasThatTheConfigDoesNotTie) {
  const Checkpoint subject = checkpoint_of(without(3), {{"config.tie_word_embeddings", Scalar(false)}});
  EXPECT_NE(exported(subject, checkpoint_of(tied())).reason.find("config.json says that it is not tied"),
            std::string::npos);
}

TEST(ExportTest, MissingAndExtraTensors) {
  EXPECT_EQ(exported(without(1)).reason, "1 of the original's 4 tensors are missing in the export: layers.0.q.weight");
  std::vector<TensorData> extra = model();
  extra.push_back(tensor("layers.0.q.lora_A", {2, 8}, 9));
  EXPECT_EQ(exported(extra).reason, "1 tensor of the export are not in the original: layers.0.q.lora_A");
}

TEST(ExportTest, AChangedTypeIsAFaultEvenIfRoundedWell) {
  std::vector<TensorData> half = model();
  for (TensorData& one : half) {
    std::vector<float> values(one.bytes.size() / 4);
    read_floats(DType::kF32, one.bytes, 0, values);
    one = reader::testing::tensor_of(one.name, one.shape, values, DType::kF16);
  }
  EXPECT_NE(exported(half).reason.find("4 of 4 tensors of the export have another element type"), std::string::npos);
}

TEST(ExportTest, KeysThatNoLoaderFinds) {
  std::vector<TensorData> prefixed = model();
  for (TensorData& one : prefixed) one.name = "module." + one.name;
  EXPECT_EQ(exported(prefixed).reason,
            "export keys start with \"module.\", original keys do not: a loader finds none of them");
}

TEST(ExportTest, ProblemsOfTheFilesAreFaults) {
  Checkpoint subject = checkpoint_of(model());
  subject.problems.push_back({reader::ProblemKind::kMissingShard, "s", "", "shard s is not there."});
  EXPECT_EQ(exported(subject, checkpoint_of(model())).reason, "shard s is not there.");
}

TEST(ExportTest, TheEndTokenOfTrainingMustEndAGeneration) {
  const std::vector<reader::NamedValue> settings = {
      {"generation_config.eos_token_id", Scalar(std::int64_t{151643})},
      {"tokenizer_config.added_tokens_decoder.151645.content", Scalar(std::string("<|im_end|>"))},
      {"tokenizer_config.eos_token", Scalar(std::string("<|im_end|>"))}};
  const Verdict verdict = exported(checkpoint_of(model(), settings), checkpoint_of(model()));
  ASSERT_EQ(verdict.status, Status::kFail);
  EXPECT_NE(verdict.reason.find("generation_config.json stops at token 151643, but the tokenizer's end token is 151645 "
                                "(<|im_end|>)"),
            std::string::npos);
  auto several = settings;
  several[0] = {"generation_config.eos_token_id.0", Scalar(std::int64_t{151645})};
  several.push_back({"generation_config.eos_token_id.1", Scalar(std::int64_t{151643})});
  EXPECT_EQ(exported(checkpoint_of(model(), several), checkpoint_of(model())).status, Status::kPass);
}

TEST(ExportTest, FilesBesideTheWeights) {
  const reader::testing::TempDir directory;
  for (const char* side : {"a", "b"}) {
    std::filesystem::create_directory(directory / side);
    const std::string folder = (directory / side) + "/";
    reader::testing::write_safetensors(folder + "model.safetensors", model());
    reader::testing::write_file(folder + "config.json", std::string_view(R"({"hidden_size": 8})"));
    reader::testing::write_file(folder + "tokenizer.json", std::string_view(R"({"vocab": 1})"));
    reader::testing::write_file(folder + "merges.txt", std::string_view("a b"));
  }
  const auto both = [&] {
    const auto subject = reader::open_checkpoint(directory / "a");
    const auto reference = reader::open_checkpoint(directory / "b");
    return exported(*subject, *reference);
  };
  EXPECT_EQ(both().status, Status::kPass);
  std::filesystem::remove(directory / "a/merges.txt");
  EXPECT_EQ(both().reason, "merges.txt of the original is missing in the export");
  reader::testing::write_file(directory / "a/merges.txt", std::string_view("b a"));
  EXPECT_EQ(both().reason, "merges.txt is another file than the original's (3 and 3 bytes)");
  reader::testing::write_file(directory / "a/config.json", std::string_view(R"({"hidden_size": 9})"));
  EXPECT_EQ(both().findings.back().title, "config.json differs in 1 field: hidden_size is 9, the reference has 8");
}

}  // namespace
}  // namespace plumbline::checks
