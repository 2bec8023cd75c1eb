#include "reader/checkpoint/zip_directory.hpp"

#include <gtest/gtest.h>

#include "reader/checkpoint/testing/checkpoint_files.hpp"

namespace plumbline::reader {
namespace {

std::span<const std::byte> bytes_of(const std::string& text) {
  return {reinterpret_cast<const std::byte*>(text.data()), text.size()};
}

std::string refusal(const std::string& file) {
  const auto zip = ZipDirectory::read("a.pt", bytes_of(file));
  EXPECT_FALSE(zip.ok());
  return zip.status().message();
}

const std::string& whole() {
  static const std::string file = testing::zip_bytes({{"data.pkl", "pickle"}, {"data/0", "numbers"}, {"empty", ""}});
  return file;
}

TEST(ZipDirectoryTest, MembersAreFoundBelowTheArchivesFolder) {
  const auto zip = ZipDirectory::read("a.pt", bytes_of(whole()));
  ASSERT_TRUE(zip.ok()) << zip.status().message();
  EXPECT_EQ(zip->members().size(), 3U);
  const ZipMember* member = zip->find("data/0");
  ASSERT_NE(member, nullptr);
  EXPECT_EQ(std::string(reinterpret_cast<const char*>(member->bytes.data()), member->bytes.size()), "numbers");
  EXPECT_EQ(zip->find("data/1"), nullptr);
  EXPECT_TRUE(starts_as_zip(bytes_of(whole())));
  EXPECT_FALSE(starts_as_zip(bytes_of("PK")));
}

TEST(ZipDirectoryTest, ADirectoryThatIsFollowedByAComment) {
  std::string file = whole();
  file[file.size() - 2] = 5;
  EXPECT_TRUE(ZipDirectory::read("a.pt", bytes_of(file + "hello")).ok());
}

TEST(ZipDirectoryTest, EveryCutIsRefusedWithTheFile) {
  for (std::size_t size = 0; size < whole().size(); ++size) {
    const std::string sentence = refusal(whole().substr(0, size));
    EXPECT_EQ(sentence.find("a.pt: "), 0U) << sentence;
    EXPECT_NE(sentence.find("cut off"), std::string::npos) << sentence;
  }
}

TEST(ZipDirectoryTest, APackedMemberIsNamed) {
  std::string file = whole();
  const std::size_t central = file.find("PK\x01\x02");
  file[central + 10] = 8;
  EXPECT_NE(refusal(file).find("archive/data.pkl in it is compressed"), std::string::npos);
}

TEST(ZipDirectoryTest, SizesBeyondTheFile) {
  std::string file = whole();
  const std::size_t central = file.find("PK\x01\x02");
  for (const std::size_t field : {20U, 24U}) file[central + field + 2] = 1;
  EXPECT_NE(refusal(file).find("does not fit"), std::string::npos);
  file = whole();
  file[central + 42] = 3;
  EXPECT_NE(refusal(file).find("not where its directory says"), std::string::npos);
}

}  // namespace
}  // namespace plumbline::reader
