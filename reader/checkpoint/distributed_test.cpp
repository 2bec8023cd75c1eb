#include "reader/checkpoint/distributed.hpp"

#include <gtest/gtest.h>

#include "reader/checkpoint/testing/checkpoint_files.hpp"
#include "reader/checkpoint/testing/distributed_metadata.hpp"
#include "reader/testing/records.hpp"

namespace plumbline::reader {
namespace {

using testing::StoredPart;
using Parts = std::vector<StoredPart>;

// Two rows of three, a row in each of two parts of one file.
class DistributedTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const std::string first = testing::torch_file_bytes(testing::tensor_of("", {1, 3}, {1, 2, 3}));
    const std::string second = testing::torch_file_bytes(testing::tensor_of("", {1, 3}, {4, 5, 6}));
    length_ = {static_cast<int>(first.size()), static_cast<int>(second.size())};
    testing::write_file(directory_ / "__0_0.distcp", std::string_view(first + second));
  }
  static StoredPart part(int row, const std::string& file, int at, int length) {
    return {"model.w", {row, 0}, file, at, length};
  }
  Checkpoint open(const Parts& parts, int rows = 2, int columns = 3) {
    return open_with({{"model.w", {"model", "w"}, {rows, columns}}}, parts);
  }
  Checkpoint open_with(const std::vector<testing::StoredTensor>& tensors, const Parts& parts) {
    const std::string metadata = testing::distributed_metadata(tensors, parts);
    testing::write_file(directory_ / ".metadata", std::string_view(metadata));
    Result<Checkpoint> checkpoint = open_checkpoint(directory_.path());
    EXPECT_TRUE(checkpoint.ok()) << checkpoint.status().message();
    return checkpoint.ok() ? std::move(*checkpoint) : Checkpoint{};
  }
  Parts both() const {
    return {part(0, "__0_0.distcp", 0, length_[0]), part(1, "__0_0.distcp", length_[0], length_[1])};
  }
  std::string complaint(const Parts& parts, int rows = 2) {
    const Checkpoint checkpoint = open(parts, rows);
    EXPECT_TRUE(checkpoint.tensors.empty());
    return checkpoint.problems.empty() ? "" : checkpoint.problems.front().sentence;
  }

  testing::TempDir directory_;
  std::vector<int> length_;
};

TEST_F(DistributedTest, ATensorIsPutTogetherFromItsParts) {
  const Checkpoint checkpoint = open(both());
  EXPECT_TRUE(checkpoint.problems.empty());
  const Tensor* tensor = checkpoint.find("model.w");
  ASSERT_NE(tensor, nullptr);
  EXPECT_EQ(tensor->section(), "model.");
  EXPECT_EQ(tensor->shape, (std::vector<std::uint64_t>{2, 3}));
  for (std::size_t i = 0; i < 6; ++i) EXPECT_EQ(value_at(DType::kF32, tensor->bytes, i), static_cast<double>(i + 1));
}

// Each rank writes a file of its own: the first of them is far smaller than the tensor.
TEST_F(DistributedTest, ATensorIsPutTogetherFromTheFilesOfManyRanks) {
  Parts parts;
  for (int rank = 0; rank < 8; ++rank) {
    const std::string name = "__" + std::to_string(rank) + "_0.distcp";
    const std::string bytes = testing::torch_file_bytes(testing::tensor("", {1, 1000}, static_cast<unsigned>(rank)));
    testing::write_file(directory_ / name, std::string_view(bytes));
    parts.push_back(part(rank, name, 0, static_cast<int>(bytes.size())));
  }
  const Checkpoint checkpoint = open(parts, 8, 1000);
  EXPECT_TRUE(checkpoint.problems.empty()) << checkpoint.problems.front().sentence;
  EXPECT_EQ(checkpoint.total_bytes(), 32000U);
}

TEST_F(DistributedTest, WhatIsMissingIsNamed) {
  EXPECT_NE(complaint({part(0, "__0_0.distcp", 0, length_[0])}).find("model.w lacks 3 of its elements"),
            std::string::npos);
  EXPECT_NE(complaint({}).find("model.w is in no file"), std::string::npos);
  EXPECT_NE(complaint({part(0, "__1_0.distcp", 0, 9)}).find("__1_0.distcp cannot be opened"), std::string::npos);
}

TEST_F(DistributedTest, PartsThatDoNotFit) {
  EXPECT_NE(complaint({part(0, "__0_0.distcp", 0, 1 << 20)}).find("was cut off"), std::string::npos);
  EXPECT_NE(complaint({part(0, "__0_0.distcp", -7, 3)}).find("was cut off"), std::string::npos);
  EXPECT_NE(complaint({part(5, "__0_0.distcp", 0, length_[0])}).find("do not fit together"), std::string::npos);
  EXPECT_NE(complaint({part(0, "__0_0.distcp", 2, length_[0] - 2)}).find("cannot be read"), std::string::npos);
  EXPECT_NE(complaint({part(0, "__0_0.distcp", 0, length_[0])}, 1 << 30).find("larger than all files"),
            std::string::npos);
}

// A hundred names for the same bytes: together they are no more than the files.
TEST_F(DistributedTest, WhatIsPutTogetherIsNoMoreThanTheFiles) {
  std::vector<testing::StoredTensor> tensors;
  Parts parts;
  for (int i = 0; i < 100; ++i) {
    const std::string name = "w" + std::to_string(i);
    tensors.push_back({name, {"model", name}, {2, 3}});
    for (StoredPart one : both()) {
      one.tensor = name;
      parts.push_back(std::move(one));
    }
  }
  const Checkpoint checkpoint = open_with(tensors, parts);
  const auto on_disk = static_cast<std::uint64_t>(length_[0] + length_[1]);
  EXPECT_LE(checkpoint.total_bytes(), on_disk);
  EXPECT_EQ(checkpoint.tensors.size(), on_disk / 24);
  EXPECT_NE(checkpoint.problems.at(0).sentence.find("larger than all files"), std::string::npos);
}

TEST_F(DistributedTest, OtherFilesAreNotFollowedOrTakenForOne) {
  for (const std::string& name : {std::string("../__0_0.distcp"), std::string("__0_0.distcp\0.x", 15), std::string()})
    EXPECT_NE(complaint({part(0, name, 0, length_[0])}).find("no file of the checkpoint"), std::string::npos) << name;
  testing::write_file(directory_ / ".metadata", std::string_view("\x80\x04N."));
  const auto checkpoint = open_checkpoint(directory_.path());
  ASSERT_TRUE(checkpoint.ok());
  EXPECT_NE(checkpoint->problems.at(0).sentence.find("no metadata of torch.distributed.checkpoint"), std::string::npos);
}

}  // namespace
}  // namespace plumbline::reader
