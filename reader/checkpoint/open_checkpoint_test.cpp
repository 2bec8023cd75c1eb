#include <gtest/gtest.h>

#include <filesystem>

#include "reader/checkpoint/checkpoint.hpp"
#include "reader/checkpoint/testing/checkpoint_files.hpp"
#include "reader/testing/records.hpp"

namespace plumbline::reader {
namespace {

using testing::dict;
using testing::tensor;

class OpenCheckpointTest : public ::testing::Test {
 protected:
  void shard(const std::string& name, const std::vector<testing::TensorData>& tensors) {
    testing::write_safetensors(directory_ / name, tensors);
  }
  void text(const std::string& name, std::string_view contents) { testing::write_file(directory_ / name, contents); }
  void index(const std::string& map, int total) {
    text("model.safetensors.index.json",
         "{\"metadata\":{\"total_size\":" + std::to_string(total) + "},\"weight_map\":{" + map + "}}");
  }
  Checkpoint open() {
    Result<Checkpoint> checkpoint = open_checkpoint(directory_.path());
    EXPECT_TRUE(checkpoint.ok()) << checkpoint.status().message();
    return checkpoint.ok() ? std::move(*checkpoint) : Checkpoint{};
  }
  Problem only_problem() {
    const Checkpoint checkpoint = open();
    EXPECT_EQ(checkpoint.problems.size(), 1U);
    return checkpoint.problems.empty() ? Problem{} : checkpoint.problems[0];
  }

  testing::TempDir directory_;
};

TEST_F(OpenCheckpointTest, ShardsAreReadThroughTheirIndex) {
  shard("model-1.safetensors", {tensor("a", {4}, 1)});
  shard("model-2.safetensors", {tensor("b", {2}, 2)});
  index(R"("a":"model-1.safetensors","b":"model-2.safetensors")", 24);
  const Checkpoint checkpoint = open();
  EXPECT_TRUE(checkpoint.problems.empty());
  EXPECT_TRUE(checkpoint.sharded);
  EXPECT_EQ(checkpoint.tensors.size(), 2U);
  EXPECT_EQ(checkpoint.files[checkpoint.find("b")->file].name, "model-2.safetensors");
  EXPECT_EQ(checkpoint.total_bytes(), 24U);
}

TEST_F(OpenCheckpointTest, AShardThatIsNotThere) {
  shard("model-1.safetensors", {tensor("a", {4}, 1)});
  index(R"("a":"model-1.safetensors","b":"model-2.safetensors")", 24);
  const Problem problem = only_problem();
  EXPECT_EQ(problem.kind, ProblemKind::kMissingShard);
  EXPECT_NE(problem.sentence.find("copy it too"), std::string::npos);
}

TEST_F(OpenCheckpointTest, ATensorThatIsNotInItsShard) {
  shard("model-1.safetensors", {tensor("a", {4}, 1)});
  index(R"("a":"model-1.safetensors","b":"model-1.safetensors")", 16);
  const Problem problem = only_problem();
  EXPECT_EQ(problem.kind, ProblemKind::kNotInShard);
  EXPECT_EQ(problem.tensor, "b");
}

TEST_F(OpenCheckpointTest, ATensorInAnotherShardThanTheIndexSays) {
  shard("model-1.safetensors", {tensor("a", {4}, 1), tensor("b", {2}, 2)});
  shard("model-2.safetensors", {tensor("c", {2}, 2)});
  index(R"("a":"model-1.safetensors","b":"model-2.safetensors","c":"model-2.safetensors")", 32);
  const Problem problem = only_problem();
  EXPECT_EQ(problem.kind, ProblemKind::kWrongShard);
  EXPECT_NE(problem.sentence.find("b is in model-1.safetensors, and not in model-2.safetensors"), std::string::npos);
}

TEST_F(OpenCheckpointTest, ATensorInTwoShards) {
  shard("model-1.safetensors", {tensor("a", {4}, 1), tensor("b", {2}, 2)});
  shard("model-2.safetensors", {tensor("b", {2}, 3)});
  index(R"("a":"model-1.safetensors","b":"model-2.safetensors")", 32);
  const Problem problem = only_problem();
  EXPECT_EQ(problem.kind, ProblemKind::kTwice);
  EXPECT_EQ(open().tensors.size(), 2U);
}

TEST_F(OpenCheckpointTest, WhatTheIndexDoesNotNameIsNotLoaded) {
  shard("model-1.safetensors", {tensor("a", {4}, 1), tensor("extra", {2}, 2)});
  index(R"("a":"model-1.safetensors")", 24);
  EXPECT_EQ(only_problem().kind, ProblemKind::kNotIndexed);
  shard("model-9.safetensors", {tensor("z", {1}, 2)});
  EXPECT_EQ(open().problems.size(), 2U);
}

TEST_F(OpenCheckpointTest, AWrongTotalSize) {
  shard("model-1.safetensors", {tensor("a", {4}, 1)});
  index(R"("a":"model-1.safetensors")", 17);
  EXPECT_EQ(only_problem().kind, ProblemKind::kWrongTotal);
}

TEST_F(OpenCheckpointTest, ACutShardIsAProblemAndTheOthersAreRead) {
  shard("model-1.safetensors", {tensor("a", {4}, 1)});
  text("model-2.safetensors", "cut");
  index(R"("a":"model-1.safetensors","b":"model-2.safetensors")", 24);
  EXPECT_EQ(only_problem().kind, ProblemKind::kDamagedFile);
  EXPECT_NE(open().find("a"), nullptr);
}

TEST_F(OpenCheckpointTest, AnIndexThatLeadsOutOfTheDirectoryIsNotFollowed) {
  index(R"("a":"../secret.safetensors")", 4);
  EXPECT_NE(only_problem().sentence.find("no file beside it"), std::string::npos);
}

TEST_F(OpenCheckpointTest, AnIndexWhoseNamesEndEarlyIsNotFollowed) {
  shard("model-1.safetensors", {tensor("a", {4}, 1)});
  index(R"("a":"model-1.safetensors\u0000.x")", 16);
  EXPECT_EQ(open().problems.front().kind, ProblemKind::kDamagedFile);
  EXPECT_NE(open().problems.front().sentence.find("no file beside it"), std::string::npos);
}

// What unpacks to any size: nothing that loads a checkpoint unpacks it.
TEST_F(OpenCheckpointTest, PackedSettingsAreRefused) {
  text("config.json", "\x1f\x8b\x08 and so on");
  EXPECT_NE(only_problem().sentence.find("config.json is packed with gzip"), std::string::npos);
  index("", 0);
  text("model.safetensors.index.json", "\x1f\x8b\x08 and so on");
  EXPECT_NE(open().problems.front().sentence.find("index.json is packed with gzip"), std::string::npos);
}

TEST_F(OpenCheckpointTest, ATrainersDirectoryHasWeightsStatesAndSettings) {
  shard("model.safetensors", {tensor("a", {4}, 1)});
  testing::write_torch_file(directory_ / "optimizer.pt", dict({{"state", dict({{0, dict({{"step", 3}})}})}}));
  testing::write_torch_file(directory_ / "pytorch_model.bin", dict({{"a", tensor("", {4}, 9)}}));
  text("trainer_state.json", R"({"global_step": 3, "epoch": 0.5})");
  text("config.json", R"({"eos_token_id": [1, 2], "tie_word_embeddings": false})");
  text("tokenizer.json", R"({"model": {}})");
  text("merges.txt", "a b");
  const Checkpoint checkpoint = open();
  EXPECT_TRUE(checkpoint.problems.empty());
  EXPECT_EQ(checkpoint.tensors.size(), 1U) << "the weights are read once";
  EXPECT_EQ(scalar_text(*checkpoint.value("optimizer.state.0.step")), "3");
  EXPECT_EQ(scalar_text(*checkpoint.value("trainer_state.global_step")), "3");
  EXPECT_EQ(scalar_text(*checkpoint.value("config.eos_token_id.1")), "2");
  EXPECT_NE(checkpoint.file("tokenizer.json"), nullptr);
  EXPECT_NE(checkpoint.file("merges.txt"), nullptr);
  EXPECT_TRUE(looks_like_checkpoint(directory_.path()));
}

TEST_F(OpenCheckpointTest, WeightsOfTorchSaveLieAtTheTop) {
  testing::write_torch_file(directory_ / "pytorch_model.bin", dict({{"layers.0.weight", tensor("", {4}, 9)}}));
  EXPECT_NE(open().find("layers.0.weight"), nullptr);
}

TEST_F(OpenCheckpointTest, WhatIsNoCheckpointIsRefusedInOneSentence) {
  EXPECT_NE(open_checkpoint(directory_.path()).status().message().find("holds no checkpoint"), std::string::npos);
  EXPECT_FALSE(looks_like_checkpoint(directory_.path()));
  EXPECT_NE(open_checkpoint(directory_ / "nothing").status().message().find("is not there"), std::string::npos);
  text("config.json", "{\"a\":");
  EXPECT_NE(only_problem().sentence.find("the file ends here"), std::string::npos);
}

TEST_F(OpenCheckpointTest, AMappedFileKnowsThatItWasCut) {
  shard("model.safetensors", {tensor("a", {4096}, 1)});
  const Checkpoint checkpoint = open();
  EXPECT_TRUE(checkpoint.files[0].mapped->intact());
  std::filesystem::resize_file(directory_ / "model.safetensors", 100);
  EXPECT_FALSE(checkpoint.files[0].mapped->intact());
}

}  // namespace
}  // namespace plumbline::reader
