#include "reader/file.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstring>

#include "reader/testing/records.hpp"

namespace plumbline::reader {
namespace {

TEST(FileTest, ReadsByPosition) {
  testing::TempDir directory;
  testing::write_file(directory / "f", "hello world");
  const Result<File> file = File::open(directory / "f");
  ASSERT_TRUE(file.ok());
  EXPECT_EQ(file->size(), 11u);
  char text[6] = {};
  EXPECT_EQ(file->read_at(6, text, 5), 5u);
  EXPECT_STREQ(text, "world");
  EXPECT_EQ(file->read_at(9, text, 5), 2u) << "less at the end";
  EXPECT_EQ(file->read_at(50, text, 5), 0u);
}

TEST(FileTest, OnlyRegularFilesAreOpened) {
  testing::TempDir directory;
  ASSERT_EQ(mkfifo((directory / "pipe").c_str(), 0600), 0);
  EXPECT_EQ(File::open(directory / "pipe").status().code(), Code::kForeign);
  EXPECT_EQ(File::open(directory.path()).status().code(), Code::kForeign);
  EXPECT_EQ(File::open(directory / "none").status().code(), Code::kNotFound);
}

TEST(FileTest, MovesKeepItOpen) {
  testing::TempDir directory;
  testing::write_file(directory / "a", "a");
  testing::write_file(directory / "b", "b");
  Result<File> a = File::open(directory / "a");
  Result<File> b = File::open(directory / "b");
  *a = std::move(*b);
  char byte = 0;
  EXPECT_EQ(a->read_at(0, &byte, 1), 1u);
  EXPECT_EQ(byte, 'b');
}

TEST(FileTest, KnowsWhereItsDataIs) {
  const testing::TempDir directory;
  testing::write_file(directory / "f", std::string(4096, 'x'));
  std::filesystem::resize_file(directory / "f", 100 << 20);
  const auto file = File::open(directory / "f");
  ASSERT_TRUE(file.ok());
  EXPECT_EQ(file->next_data(0), 0U);
  EXPECT_EQ(file->next_data(77), 77U);
  EXPECT_EQ(file->next_data(50 << 20), file->size());
  EXPECT_EQ(file->next_data(file->size()), file->size());
}

}  // namespace
}  // namespace plumbline::reader
