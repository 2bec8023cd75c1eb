#include "tools/plumbline/file_text.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "tools/plumbline/scratch_directory.hpp"

namespace plumbline::tools {
namespace {

TEST(FileTextTest, TheWholeFile) {
  const ScratchDirectory directory;
  std::string large(200'000, 'x');
  large += '\0';
  EXPECT_EQ(file_text(directory.write("large", large)), large);
  EXPECT_EQ(file_text(directory.write("empty", "")), "");
}

// Files of /proc have no size.
TEST(FileTextTest, AFileOfProc) { EXPECT_NE(file_text("/proc/self/status").find("Pid:"), std::string::npos); }

TEST(FileTextTest, WhatIsNoFileIsEmpty) {
  const ScratchDirectory directory;
  EXPECT_EQ(file_text(directory.path("")), "");
  EXPECT_EQ(file_text(directory.path("absent")), "");
  const std::string pipe = directory.path("pipe");
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_EQ(file_text(pipe), "");  // and it does not wait for a writer
}

}  // namespace
}  // namespace plumbline::tools
