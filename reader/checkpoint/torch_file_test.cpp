#include "reader/checkpoint/torch_file.hpp"

#include <gtest/gtest.h>

#include "reader/checkpoint/testing/checkpoint_files.hpp"
#include "reader/testing/records.hpp"

namespace plumbline::reader {
namespace {

using namespace std::string_literals;
using testing::dict;
using testing::list;
using testing::Node;
using testing::tensor_of;

class TorchFileTest : public ::testing::Test {
 protected:
  Result<Checkpoint> open(const std::string& bytes) {
    testing::write_file(path(), std::string_view(bytes));
    return open_checkpoint(path());
  }
  // Of a pickle that is given in full, with one storage "0" of eight bytes.
  Result<Checkpoint> open_pickle(const std::string& body) {
    return open(testing::zip_bytes({{"data.pkl", "\x80\x02"s + body + "."}, {"data/0", "\1\2\3\4\5\6\7\10"}}));
  }
  std::string path() const { return directory_ / "state.pt"; }

  testing::TempDir directory_;
};

// _rebuild_tensor_v2 of storage 0, bytes.
std::string byte_tensor(const std::string& offset, const std::string& shape, const std::string& stride) {
  return "ctorch._utils\n_rebuild_tensor_v2\n((X\x07\0\0\0storagectorch\nByteStorage\nX\x01\0\0\0"s + "0X\x03\0\0\0"s +
         "cpuK\x08tQ" + offset + shape + stride + "\x89}tR"s;
}

TEST_F(TorchFileTest, AnOptimizersStateIsLaidOutByName) {
  const auto checkpoint = open(testing::torch_file_bytes(
      dict({{"state",
             dict({{0, dict({{"step", tensor_of("", {}, {8})}, {"exp_avg", tensor_of("", {2, 2}, {1, 2, 3, 4})}})}})},
            {"param_groups", list({dict({{"lr", 0.5}, {"amsgrad", false}, {"params", list({0})}})})},
            {"note", "a text"},
            {"nothing", Node()}})));
  ASSERT_TRUE(checkpoint.ok()) << checkpoint.status().message();
  EXPECT_TRUE(checkpoint->problems.empty());
  const Tensor* moment = checkpoint->find("state.0.exp_avg");
  ASSERT_NE(moment, nullptr);
  EXPECT_EQ(moment->section(), "state.0.");
  EXPECT_EQ(moment->key(), "exp_avg");
  EXPECT_EQ(moment->shape, (std::vector<std::uint64_t>{2, 2}));
  EXPECT_EQ(value_at(moment->dtype, moment->bytes, 3), 4);
  EXPECT_EQ(value_at(DType::kF32, checkpoint->find("state.0.step")->bytes, 0), 8);
  EXPECT_EQ(scalar_text(*checkpoint->value("param_groups.0.lr")), "0.5");
  EXPECT_EQ(scalar_text(*checkpoint->value("param_groups.0.amsgrad")), "false");
  EXPECT_EQ(scalar_text(*checkpoint->value("param_groups.0.params.0")), "0");
  EXPECT_EQ(scalar_text(*checkpoint->value("note")), "\"a text\"");
  EXPECT_EQ(scalar_text(*checkpoint->value("nothing")), "none");
}

TEST_F(TorchFileTest, EveryElementTypeComesThrough) {
  for (const DType dtype :
       {DType::kF64, DType::kBF16, DType::kF16, DType::kI64, DType::kI32, DType::kU8, DType::kBool, DType::kF8E4M3}) {
    const auto checkpoint = open(testing::torch_file_bytes(dict({{"w", testing::tensor("", {3}, 1, dtype)}})));
    ASSERT_TRUE(checkpoint.ok()) << checkpoint.status().message();
    ASSERT_NE(checkpoint->find("w"), nullptr) << name_of(dtype);
    EXPECT_EQ(checkpoint->find("w")->dtype, dtype);
  }
}

TEST_F(TorchFileTest, ViewsOfOneStorage) {
  const auto checkpoint =
      open_pickle("}(X\x01\0\0\0"s + "a" + byte_tensor("K\x02", "K\x02K\x03\x86", "K\x03K\x01\x86") + "X\x01\0\0\0"s +
                  "b" + byte_tensor("K\0"s, "K\x02K\x02\x86", "K\x01K\x02\x86") + "u");
  ASSERT_TRUE(checkpoint.ok()) << checkpoint.status().message();
  const Tensor* rows = checkpoint->find("a");
  ASSERT_NE(rows, nullptr);
  EXPECT_EQ(rows->bytes[0], std::byte{3});
  const Tensor* transposed = checkpoint->find("b");
  ASSERT_NE(transposed, nullptr);
  EXPECT_EQ(rows->storage, transposed->storage);
  const std::vector<std::byte> expected = {std::byte{1}, std::byte{3}, std::byte{2}, std::byte{4}};
  EXPECT_EQ(std::vector<std::byte>(transposed->bytes.begin(), transposed->bytes.end()), expected);
}

TEST_F(TorchFileTest, ATensorBeyondItsStorageIsAProblemAndNoCrash) {
  for (const std::string& body :
       {byte_tensor("K\x05", "K\x04\x85", "K\x01\x85"),
        byte_tensor("K\0"s, "K\x02K\x02\x86", "J\xff\xff\xff\x7fK\x01\x86"),
        byte_tensor("J\xff\xff\xff\xff", "K\x02\x85", "K\x01\x85"), byte_tensor("K\0"s, "K\x02\x85", ")"),
        byte_tensor("K\0"s, "\x8a\x06\0\0\0\0\0\1\x85"s, "K\0\x85"s)}) {
    const auto checkpoint = open_pickle("}X\x01\0\0\0"s + "a" + body + "s");
    ASSERT_TRUE(checkpoint.ok()) << checkpoint.status().message();
    EXPECT_EQ(checkpoint->find("a"), nullptr);
    ASSERT_FALSE(checkpoint->problems.empty());
    EXPECT_EQ(checkpoint->problems[0].kind, ProblemKind::kUnreadTensor);
    EXPECT_NE(checkpoint->problems[0].sentence.find("state.pt: a "), std::string::npos);
  }
}

TEST_F(TorchFileTest, ObjectsAreDataAndNothingIsCalled) {
  // argparse.Namespace(lr=3) and os.system("id"): the one is laid out, of the other its argument is read.
  const auto checkpoint = open_pickle("}(X\x04\0\0\0args"s + "cargparse\nNamespace\n)\x81}X\x02\0\0\0lrK\x03sb"s +
                                      "X\x01\0\0\0"s + "ccos\nsystem\nX\x02\0\0\0id\x85Ru"s);
  ASSERT_TRUE(checkpoint.ok()) << checkpoint.status().message();
  EXPECT_EQ(scalar_text(*checkpoint->value("args.lr")), "3");
  EXPECT_EQ(scalar_text(*checkpoint->value("c.0")), "\"id\"");
}

TEST_F(TorchFileTest, DataThatContainsItselfEnds) {
  const auto checkpoint = open_pickle("}q\0X\x01\0\0\0"s + "ah\0s"s);
  ASSERT_TRUE(checkpoint.ok()) << checkpoint.status().message();
  ASSERT_FALSE(checkpoint->problems.empty());
  EXPECT_NE(checkpoint->problems[0].sentence.find("nested or shared too much"), std::string::npos);
}

TEST_F(TorchFileTest, OtherFilesAreRefusedInOneSentence) {
  EXPECT_NE(open(testing::zip_bytes({{"readme", "hello"}})).status().message().find("holds no data.pkl"),
            std::string::npos);
  EXPECT_NE(open("\x80\x02N."s).status().message().find("PyTorch before 1.6"), std::string::npos);
  EXPECT_NE(open(testing::zip_bytes({{"data.pkl", "\x80\x02N."}, {"byteorder", "big"}}))
                .status()
                .message()
                .find("big-endian"),
            std::string::npos);
  EXPECT_NE(open(testing::zip_bytes({{"data.pkl", "\x80\x02}"}})).status().message().find("cut off"),
            std::string::npos);
}

TEST_F(TorchFileTest, EveryCutIsRefusedOrTold) {
  const std::string whole = testing::torch_file_bytes(dict({{"w", testing::tensor("", {3}, 1)}, {"n", 1}}));
  for (std::size_t size = 4; size < whole.size(); size += 3) {
    const auto checkpoint = open(whole.substr(0, size));
    ASSERT_FALSE(checkpoint.ok());
    EXPECT_NE(checkpoint.status().message().find(path()), std::string::npos);
  }
}

}  // namespace
}  // namespace plumbline::reader
