#include "tools/plumbline/recording_place.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <fstream>

#include "tools/plumbline/scratch_directory.hpp"

namespace plumbline::tools {
namespace {

namespace fs = std::filesystem;

std::string block_of(const fs::path& directory) { return recording_block(directory, 64 << 20); }

TEST(RecordingPlace, ADirectoryThatIsThereOrCanBeMade) {
  const ScratchDirectory scratch;
  EXPECT_EQ(block_of(scratch.path("")), "");
  EXPECT_EQ(block_of(scratch.path("not/yet/there")), "");
  EXPECT_TRUE(fs::is_empty(scratch.path(""))) << "the trial leaves nothing";
}

TEST(RecordingPlace, AFileInTheWay) {
  const ScratchDirectory scratch;
  std::ofstream(scratch.path("file")) << "x";
  EXPECT_NE(block_of(scratch.path("file/run")).find("Not a directory"), std::string::npos);
  EXPECT_NE(block_of(scratch.path("file")).find("Not a directory"), std::string::npos);
}

TEST(RecordingPlace, AFileSystemThatTakesNoFiles) {
  EXPECT_NE(block_of("/proc/run").find("cannot be made: /proc cannot be written to"), std::string::npos);
}

TEST(RecordingPlace, ANameThatIsTooLong) {
  const ScratchDirectory scratch;
  EXPECT_NE(block_of(scratch.path(std::string(300, 'x'))).find("too long"), std::string::npos);
  std::string deep;
  for (int i = 0; i < 500; ++i) deep += "directory/";
  EXPECT_NE(block_of(scratch.path(deep)).find("too long"), std::string::npos);
}

TEST(RecordingPlace, ALimitOnFileSizesBelowTheRings) {
  const ScratchDirectory scratch;
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  const rlimit small{1 << 20, before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  const std::string block = block_of(scratch.path(""));
  setrlimit(RLIMIT_FSIZE, &before);
  EXPECT_NE(block.find("ulimit -f"), std::string::npos) << block;
}

TEST(RecordingPlace, TheNearestParentThatIsThere) {
  const ScratchDirectory scratch;
  EXPECT_EQ(existing_parent(fs::path(scratch.path("a/b/c"))), fs::path(scratch.path("a")).parent_path());
  EXPECT_EQ(existing_parent("/nonexistent/at/all"), "/");
}

}  // namespace
}  // namespace plumbline::tools
