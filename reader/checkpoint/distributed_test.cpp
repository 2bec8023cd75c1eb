#include "reader/checkpoint/distributed.hpp"

#include <gtest/gtest.h>

#include "reader/checkpoint/testing/checkpoint_files.hpp"
#include "reader/testing/records.hpp"

namespace plumbline::reader {
namespace {

using namespace std::string_literals;

std::string text(const std::string& value) { return "\x8c"s + static_cast<char>(value.size()) + value; }
std::string number(int value) { return "J"s + std::string(reinterpret_cast<const char*>(&value), sizeof(value)); }

// An object of a class with a state of these keys and values.
std::string object(const std::string& module, const std::string& name, const std::string& members) {
  return text(module) + text(name) + "\x93)\x81}(" + members + "ub";
}

std::string size_of_torch(int rows, int columns) {
  return text("torch") + text("Size") + "\x93" + number(rows) + number(columns) + "\x86\x85R";
}

// Two rows of three, a row in each of two parts of one file.
class DistributedTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const std::string first = testing::torch_file_bytes(testing::tensor_of("", {1, 3}, {1, 2, 3}));
    const std::string second = testing::torch_file_bytes(testing::tensor_of("", {1, 3}, {4, 5, 6}));
    length_ = {static_cast<int>(first.size()), static_cast<int>(second.size())};
    testing::write_file(directory_ / "__0_0.distcp", std::string_view(first + second));
  }
  std::string part(int row, const std::string& file, int at, int length) const {
    return object("torch.distributed.checkpoint.metadata", "MetadataIndex",
                  text("fqn") + text("model.w") + text("offset") + size_of_torch(row, 0)) +
           object("torch.distributed.checkpoint.filesystem", "_StorageInfo",
                  text("relative_path") + text(file) + text("offset") + number(at) + text("length") + number(length));
  }
  Checkpoint open(const std::string& parts, int rows = 2) {
    const std::string described =
        text("model.w") +
        object("torch.distributed.checkpoint.metadata", "TensorStorageMetadata", text("size") + size_of_torch(rows, 3));
    const std::string root =
        object("torch.distributed.checkpoint.metadata", "Metadata",
               text("state_dict_metadata") + "}(" + described + "u" + text("planner_data") + "}" + text("model.w") +
                   text("model") + text("w") + "\x86s" + text("storage_data") + "}(" + parts + "u");
    testing::write_file(directory_ / ".metadata", std::string_view("\x80\x04"s + root + "."));
    Result<Checkpoint> checkpoint = open_checkpoint(directory_.path());
    EXPECT_TRUE(checkpoint.ok()) << checkpoint.status().message();
    return checkpoint.ok() ? std::move(*checkpoint) : Checkpoint{};
  }
  std::string both() const {
    return part(0, "__0_0.distcp", 0, length_[0]) + part(1, "__0_0.distcp", length_[0], length_[1]);
  }
  std::string complaint(const std::string& parts, int rows = 2) {
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

TEST_F(DistributedTest, WhatIsMissingIsNamed) {
  EXPECT_NE(complaint(part(0, "__0_0.distcp", 0, length_[0])).find("model.w lacks 3 of its elements"),
            std::string::npos);
  EXPECT_NE(complaint("").find("model.w is in no file"), std::string::npos);
  EXPECT_NE(complaint(part(0, "__1_0.distcp", 0, 9)).find("__1_0.distcp cannot be opened"), std::string::npos);
}

TEST_F(DistributedTest, PartsThatDoNotFit) {
  EXPECT_NE(complaint(part(0, "__0_0.distcp", 0, 1 << 20)).find("was cut off"), std::string::npos);
  EXPECT_NE(complaint(part(0, "__0_0.distcp", -7, 3)).find("was cut off"), std::string::npos);
  EXPECT_NE(complaint(part(5, "__0_0.distcp", 0, length_[0])).find("do not fit together"), std::string::npos);
  EXPECT_NE(complaint(part(0, "__0_0.distcp", 2, length_[0] - 2)).find("cannot be read"), std::string::npos);
  EXPECT_NE(complaint(part(0, "__0_0.distcp", 0, length_[0]), 1 << 30).find("larger than all files"),
            std::string::npos);
}

TEST_F(DistributedTest, OtherFilesAreNotFollowedOrTakenForOne) {
  EXPECT_NE(complaint(part(0, "../__0_0.distcp", 0, 9)).find("no file of the checkpoint"), std::string::npos);
  testing::write_file(directory_ / ".metadata", std::string_view("\x80\x04N."));
  const auto checkpoint = open_checkpoint(directory_.path());
  ASSERT_TRUE(checkpoint.ok());
  EXPECT_NE(checkpoint->problems.at(0).sentence.find("no metadata of torch.distributed.checkpoint"), std::string::npos);
}

}  // namespace
}  // namespace plumbline::reader
