#include "recorder/run_directory.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "recorder/testing/child.hpp"
#include "recorder/testing/trace_contents.hpp"

namespace plumbline::recorder {
namespace {

using testing::files_in;
using testing::ScratchDirectory;
using Names = std::vector<std::string>;

Identity identity(std::int32_t rank) {
  Identity identity;
  identity.host = "node7";
  identity.pid = 42;
  identity.rank = rank;
  return identity;
}

TEST(RunDirectory, IsTheOneThatWasAskedFor) {
  Settings settings;
  settings.run_directory = "/data/run";
  settings.base_directory = "/elsewhere";
  EXPECT_EQ(run_directory(settings), "/data/run");
}

TEST(RunDirectory, IsNamedAfterTheLaunchOtherwise) {
  Settings settings;
  settings.base_directory = "/data";
  EXPECT_TRUE(run_directory(settings).starts_with("/data/plumbline-run-"));
  settings.base_directory.clear();
  EXPECT_TRUE(run_directory(settings).starts_with(std::filesystem::current_path().string() + "/plumbline-run-"));
}

TEST(RunDirectory, IsAbsolute) {
  Settings settings;
  settings.run_directory = "here/run";
  EXPECT_EQ(run_directory(settings), std::filesystem::current_path().string() + "/here/run");
}

TEST(TraceStem, SaysRankAttemptHostAndPid) {
  EXPECT_EQ(trace_stem(identity(3)), "rank3-a0-node7-42");
  EXPECT_EQ(trace_stem(identity(-1)), "proc-node7-42");
  Identity odd = identity(0);
  odd.host = "a/b c\n";
  EXPECT_EQ(trace_stem(odd), "rank0-a0-a_b_c_-42");
}

TEST(RunFiles, AreHiddenUntilPromoted) {
  const ScratchDirectory scratch;
  RunFiles files;
  ASSERT_EQ(files.create(scratch / "a/b/run", identity(0)), std::nullopt);
  EXPECT_EQ(files_in(scratch / "a/b/run"), (Names{".pending-node7-42.plt", ".pending-node7-42.ring"}));
  ASSERT_TRUE(files.promote(identity(0)));
  EXPECT_EQ(files_in(scratch / "a/b/run"), (Names{"rank0-a0-node7-42.plt", "rank0-a0-node7-42.ring"}));
  EXPECT_EQ(files.trace_path(), scratch / "a/b/run/rank0-a0-node7-42.plt");
  EXPECT_EQ(files.ring_name(), "rank0-a0-node7-42.ring");
  files.close();
}

TEST(RunFiles, NeverOverwriteAnother) {
  const ScratchDirectory scratch;
  std::ofstream(scratch / "rank0-a0-node7-42.plt") << "precious";
  std::ofstream(scratch / "rank0-a0-node7-42.1.ring") << "precious";
  std::ofstream(scratch / ".pending-node7-42.ring") << "precious";
  RunFiles files;
  ASSERT_EQ(files.create(scratch.path(), identity(0)), std::nullopt);
  EXPECT_EQ(files.trace_name(), ".pending-node7-42.1.plt");
  ASSERT_TRUE(files.promote(identity(0)));
  EXPECT_EQ(files.trace_name(), "rank0-a0-node7-42.2.plt");
  for (const char* name : {"rank0-a0-node7-42.plt", "rank0-a0-node7-42.1.ring", ".pending-node7-42.ring"}) {
    EXPECT_EQ(std::filesystem::file_size(scratch / name), 8u) << name;
  }
  EXPECT_EQ(files_in(scratch.path()).size(), 5u);
  files.close();
}

TEST(RunFiles, DiscardTakesTheDirectoryOnlyWhenItIsEmpty) {
  const ScratchDirectory scratch;
  RunFiles first;
  RunFiles second;
  ASSERT_EQ(first.create(scratch / "run", identity(0)), std::nullopt);
  ASSERT_EQ(second.create(scratch / "run", identity(0)), std::nullopt);
  first.discard();
  EXPECT_EQ(files_in(scratch / "run"), (Names{".pending-node7-42.1.plt", ".pending-node7-42.1.ring"}));
  second.discard();
  EXPECT_FALSE(std::filesystem::exists(scratch / "run"));
  first.close();
  second.close();
}

TEST(RunFiles, ANewTraceTakesThePlaceOfTheOld) {
  const ScratchDirectory scratch;
  RunFiles files;
  ASSERT_EQ(files.create(scratch / "run", identity(0)), std::nullopt);
  OwnFile anew;
  anew.adopt(open((scratch / "run/.new").c_str(), O_RDWR | O_CREAT | O_EXCL, 0644));
  const FileIdentity identity_of_new = identity_of(anew.fd(scratch / "run/.new"));
  ASSERT_TRUE(files.replace_trace(scratch / "run/.new", anew));
  EXPECT_EQ(identity_of(files.trace_fd()), identity_of_new);
  EXPECT_EQ(files.lost(), std::nullopt);
  EXPECT_EQ(files_in(scratch / "run"), (Names{".pending-node7-42.plt", ".pending-node7-42.ring"}));
  files.close();
}

TEST(RunFiles, KnowWhenTheirTraceIsLost) {
  const ScratchDirectory scratch;
  RunFiles files;
  ASSERT_EQ(files.create(scratch / "run", identity(0)), std::nullopt);
  EXPECT_EQ(files.lost(), std::nullopt);
  std::filesystem::remove_all(scratch / "run");
  EXPECT_NE(files.lost()->find("was deleted"), std::string::npos);
  files.close();
}

TEST(RunFiles, AreOpenedAnewWhenTheirDescriptorIsSomebodyElses) {
  const ScratchDirectory scratch;
  RunFiles files;
  ASSERT_EQ(files.create(scratch / "run", identity(0)), std::nullopt);
  const FileIdentity trace = identity_of(files.trace_fd());
  const int fd = files.trace_fd();
  close(fd);
  std::ofstream(scratch / "the-jobs-own") << "data";
  const int jobs = open((scratch / "the-jobs-own").c_str(), O_RDWR);
  ASSERT_EQ(dup2(jobs, fd), fd);
  ASSERT_TRUE(files.promote(identity(0))) << "found under its present name too";
  EXPECT_EQ(files.lost(), std::nullopt);
  EXPECT_NE(files.trace_fd(), fd);
  EXPECT_EQ(identity_of(files.trace_fd()), trace);
  files.close();
  EXPECT_EQ(close(fd), 0) << "it was the job's to close";
  close(jobs);
}

TEST(RunFiles, ADescriptorThatIsGoneIsOpenedAnew) {
  const ScratchDirectory scratch;
  RunFiles files;
  ASSERT_EQ(files.create(scratch / "run", identity(0)), std::nullopt);
  const FileIdentity ring = identity_of(files.ring_fd());
  close(files.ring_fd());
  EXPECT_EQ(identity_of(files.ring_fd()), ring);
  files.close();
}

// A daemon closes everything and takes its next three files for standard input, output and error.
TEST(RunFiles, HaveHighNumbers) {
  const ScratchDirectory scratch;
  RunFiles files;
  ASSERT_EQ(files.create(scratch / "run", identity(0)), std::nullopt);
  EXPECT_GE(files.trace_fd(), 100);
  EXPECT_GE(files.ring_fd(), 100);
  close(files.trace_fd());
  EXPECT_GE(files.trace_fd(), 100);
  EXPECT_TRUE((fcntl(files.trace_fd(), F_GETFD) & FD_CLOEXEC) != 0);
  files.close();
}

TEST(RunFiles, AnotherFileUnderTheirNameIsNotTheirs) {
  const ScratchDirectory scratch;
  RunFiles files;
  ASSERT_EQ(files.create(scratch / "run", identity(0)), std::nullopt);
  close(files.trace_fd());
  std::filesystem::rename(scratch / "run/.pending-node7-42.plt", scratch / "run/moved");
  std::ofstream(scratch / "run/.pending-node7-42.plt") << "the job's";
  EXPECT_EQ(files.trace_fd(), -1);
  EXPECT_NE(files.lost()->find("was deleted"), std::string::npos);
  files.close();
}

TEST(RunFiles, SayWhyTheyCannotBeMade) {
  const ScratchDirectory scratch;
  std::ofstream(scratch / "file") << "x";
  RunFiles files;
  const auto error = files.create(scratch / "file/run", identity(0));
  ASSERT_NE(error, std::nullopt);
  EXPECT_NE(error->find(scratch / "file/run"), std::string::npos);
  EXPECT_NE(error->find("Not a directory"), std::string::npos);
}

}  // namespace
}  // namespace plumbline::recorder
