#include "reader/import/byte_source.hpp"

#include <gtest/gtest.h>
#include <zlib.h>

#include "reader/testing/records.hpp"

namespace plumbline::reader::imports {
namespace {

std::vector<std::uint8_t> gzip(std::string_view text) {
  std::vector<std::uint8_t> packed(text.size() + 100);
  z_stream stream{};
  deflateInit2(&stream, 6, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY);
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = packed.data();
  stream.avail_out = static_cast<uInt>(packed.size());
  deflate(&stream, Z_FINISH);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

class ByteSourceTest : public ::testing::Test {
 protected:
  Result<std::string> contents(std::span<const std::uint8_t> file, std::uint64_t limit = 1 << 30) {
    testing::write_file(path_, file);
    Result<ByteSource> source = ByteSource::open(path_);
    if (!source.ok()) return source.status();
    Result<std::vector<std::uint8_t>> bytes = read_whole(*source, limit);
    if (!bytes.ok()) return bytes.status();
    return std::string(bytes->begin(), bytes->end());
  }

  testing::TempDir directory_;
  std::string path_ = directory_ / "file";
};

TEST_F(ByteSourceTest, PlainAndPackedFilesReadAlike) {
  std::string text;
  for (int i = 0; i < 200'000; ++i) text += std::to_string(i) + "\n";
  const std::vector<std::uint8_t> plain(text.begin(), text.end());
  EXPECT_EQ(*contents(plain), text);
  EXPECT_EQ(*contents(gzip(text)), text);
}

TEST_F(ByteSourceTest, SeveralPackedPartsFollowEachOther) {
  std::vector<std::uint8_t> both = gzip("first ");
  const std::vector<std::uint8_t> second = gzip("second");
  both.insert(both.end(), second.begin(), second.end());
  EXPECT_EQ(*contents(both), "first second");
}

TEST_F(ByteSourceTest, ACutPackedFileIsNamedAsThat) {
  std::vector<std::uint8_t> packed = gzip("what there was to say of it");
  packed.resize(packed.size() - 12);
  const auto result = contents(packed);
  ASSERT_FALSE(result.ok());
  EXPECT_NE(result.status().message().find(path_ + ": the gzip file ends in the middle"), std::string::npos);
  EXPECT_TRUE(read_beginning(path_, 10).ok()) << "its beginning is there";
}

TEST_F(ByteSourceTest, DamageIsNamed) {
  std::vector<std::uint8_t> packed = gzip(std::string(5000, 'x'));
  packed[14] ^= 0xff;
  packed[16] ^= 0x55;
  EXPECT_FALSE(contents(packed).ok());
}

TEST_F(ByteSourceTest, ABombIsRefusedBeforeItIsUnpacked) {
  const auto result = contents(gzip(std::string(std::size_t{8} << 20, '\0')), 1 << 20);
  ASSERT_FALSE(result.ok());
  EXPECT_NE(result.status().message().find("unpacks to more than 1 MiB"), std::string::npos);
}

TEST_F(ByteSourceTest, EmptyAndMissingFiles) {
  EXPECT_EQ(*contents({}), "");
  EXPECT_FALSE(ByteSource::open(directory_ / "none").ok());
  EXPECT_FALSE(ByteSource::open(directory_.path()).ok());
}

}  // namespace
}  // namespace plumbline::reader::imports
