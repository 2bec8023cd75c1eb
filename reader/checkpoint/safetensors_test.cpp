#include "reader/checkpoint/safetensors.hpp"

#include <gtest/gtest.h>

#include "reader/checkpoint/testing/checkpoint_files.hpp"

namespace plumbline::reader {
namespace {

using testing::safetensors_bytes;

Result<SafetensorsHeader> read(const std::string& file) {
  return read_safetensors_header("m.safetensors", {reinterpret_cast<const std::byte*>(file.data()), file.size()});
}

std::string refusal(const std::string& file) {
  const auto header = read(file);
  EXPECT_FALSE(header.ok());
  return header.status().message();
}

std::string refusal(const std::string& entries, const std::string& data) {
  return refusal(safetensors_bytes("{" + entries + "}", data));
}

TEST(SafetensorsTest, TensorsAreFoundInTheOrderOfTheirBytes) {
  const std::string file =
      safetensors_bytes({testing::tensor("b", {2, 3}, 1), testing::tensor("a", {4}, 2, DType::kBF16),
                         testing::tensor("none", {0}, 3), testing::tensor("one", {}, 4)});
  const auto header = read(file);
  ASSERT_TRUE(header.ok()) << header.status().message();
  ASSERT_EQ(header->tensors.size(), 4U);
  EXPECT_EQ(header->tensors[0].name, "b");
  EXPECT_EQ(header->tensors[0].shape, (std::vector<std::uint64_t>{2, 3}));
  EXPECT_EQ(header->tensors[1].dtype, DType::kBF16);
  EXPECT_EQ(header->tensors[1].begin, 24U);
  EXPECT_EQ(header->tensors[2].begin, header->tensors[2].end);
  EXPECT_EQ(header->tensors[3].end, 36U);
  ASSERT_EQ(header->metadata.size(), 1U);
  EXPECT_EQ(header->metadata[0].second, "pt");
  EXPECT_EQ(header->data_offset + 36, file.size());
}

TEST(SafetensorsTest, ThePaddingOfAHeaderIsNoFault) {
  EXPECT_TRUE(read(safetensors_bytes(R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}}     )", "x")).ok());
  EXPECT_TRUE(read(safetensors_bytes("{}", "")).ok()) << "a file without tensors";
}

TEST(SafetensorsTest, EveryCutIsRefusedWithTheFileAndARemedy) {
  const std::string whole = safetensors_bytes({testing::tensor("a", {3}, 1), testing::tensor("b", {2}, 2)});
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const std::string sentence = refusal(whole.substr(0, size));
    EXPECT_EQ(sentence.find("m.safetensors: "), 0U) << sentence;
    EXPECT_NE(sentence.find("cut off"), std::string::npos) << size << ": " << sentence;
  }
}

TEST(SafetensorsTest, ASizeThatIsNotThatOfTheShape) {
  EXPECT_EQ(
      refusal(R"("w":{"dtype":"F32","shape":[2,2],"data_offsets":[0,8]})", "12345678"),
      "m.safetensors: w of shape [2, 2] and type F32 has 8 bytes, not 16: it was written wrongly or damaged; save "
      "it again.");
}

TEST(SafetensorsTest, OffsetsThatOverlapOrLeaveAHole) {
  EXPECT_NE(refusal(R"("a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]},"b":{"dtype":"U8","shape":[4],)"
                    R"("data_offsets":[2,6]})",
                    "123456")
                .find("b begins at byte 2 of the data, inside of the tensor before it"),
            std::string::npos);
  EXPECT_NE(refusal(R"("a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]},"b":{"dtype":"U8","shape":[2],)"
                    R"("data_offsets":[4,6]})",
                    "123456")
                .find("bytes 2 to 4 of the data, before b, belong to no tensor"),
            std::string::npos);
  EXPECT_NE(refusal(R"("a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]})", "123").find("1 bytes after the last"),
            std::string::npos);
  EXPECT_NE(refusal(R"("a":{"dtype":"U8","shape":[2],"data_offsets":[4,2]})", "123").find("ends before it begins"),
            std::string::npos);
  EXPECT_NE(refusal(R"("a":{"dtype":"U8","shape":[9],"data_offsets":[0,9]})", "123").find("of which there are 3"),
            std::string::npos);
}

TEST(SafetensorsTest, NamesAndTypes) {
  const std::string entry = R"({"dtype":"U8","shape":[1],"data_offsets":[0,1]})";
  EXPECT_NE(refusal("\"a\":" + entry + ",\"a\":" + entry, "x").find("names a twice"), std::string::npos);
  EXPECT_NE(refusal(R"("lm_head.weight":{"dtype":"","shape":[],"data_offsets":[0,0]})", "")
                .find("lm_head.weight has the unknown element type \"\""),
            std::string::npos);
}

TEST(SafetensorsTest, LyingNumbers) {
  EXPECT_NE(refusal(std::string("\xff\xff\xff\xff\xff\xff\xff\x7f", 8) + "{}").find("more than the format allows"),
            std::string::npos);
  for (const char* shape : {"[-1]", "[1.5]", "[18446744073709551616]", "3", "[\"1\"]", "[1e3]"}) {
    const std::string entry = std::string(R"("a":{"dtype":"U8","shape":)") + shape + R"(,"data_offsets":[0,1]})";
    EXPECT_NE(refusal(entry, "x").find("not whole numbers"), std::string::npos) << shape;
  }
  EXPECT_NE(refusal(R"("a":{"dtype":"U8","shape":[4294967296,4294967296,16],"data_offsets":[0,0]})", "")
                .find("larger than any file"),
            std::string::npos);
  EXPECT_NE(refusal(R"("a":{"dtype":"U8","shape":[1]})", "x").find("no pair of data_offsets"), std::string::npos);
}

TEST(SafetensorsTest, OtherFilesAreNotTakenForOne) {
  EXPECT_NE(refusal(safetensors_bytes("[1]", "")).find("does not begin with a brace"), std::string::npos);
  EXPECT_NE(refusal(safetensors_bytes("{\"a\":{", "")).find("no JSON object"), std::string::npos);
  EXPECT_NE(refusal(safetensors_bytes("{} {}", "")).find("no JSON object"), std::string::npos);
  EXPECT_NE(refusal(R"("a":7)", "x").find("a is not described by an object"), std::string::npos);
}

TEST(SafetensorsTest, CountsOfElements) {
  std::uint64_t count = 7;
  EXPECT_TRUE(element_count({}, count));
  EXPECT_EQ(count, 1U);
  const std::vector<std::uint64_t> empty = {~std::uint64_t{0}, 0, ~std::uint64_t{0}};
  EXPECT_TRUE(element_count(empty, count));
  EXPECT_EQ(count, 0U);
  EXPECT_EQ(shape_text(std::vector<std::uint64_t>{4, 2}), "[4, 2]");
}

}  // namespace
}  // namespace plumbline::reader
