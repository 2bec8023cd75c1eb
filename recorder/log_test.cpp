#include "recorder/log.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <thread>
#include <vector>

#include "recorder/testing/child.hpp"

namespace plumbline::recorder {
namespace {

using testing::ScratchDirectory;

std::vector<std::string> lines_of(const std::string& path) {
  std::ifstream file(path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

TEST(Log, HoldsItsLinesUntilReleased) {
  const ScratchDirectory scratch;
  Log log;
  log.use_directory(scratch.path());
  log.line("first");
  EXPECT_TRUE(lines_of(scratch / "plumbline.log").empty());
  log.release();
  log.line("second");
  const auto lines = lines_of(scratch / "plumbline.log");
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_TRUE(lines[0].ends_with("plumbline[" + std::to_string(getpid()) + "]: first")) << lines[0];
  EXPECT_TRUE(lines[1].ends_with(": second"));
  EXPECT_EQ(lines[0][4], '-');
  EXPECT_EQ(lines[0][19], 'Z');
}

TEST(Log, AppendsToWhatOthersWrote) {
  const ScratchDirectory scratch;
  std::ofstream(scratch / "plumbline.log") << "of another process\n";
  Log log;
  log.use_directory(scratch.path());
  log.release();
  log.line("mine");
  EXPECT_EQ(lines_of(scratch / "plumbline.log").size(), 2u);
}

TEST(Log, LeavesOutLinesBeyondARate) {
  const ScratchDirectory scratch;
  Log log;
  log.use_directory(scratch.path());
  log.release();
  for (int i = 0; i < 1000; ++i) log.line("again");
  EXPECT_LE(lines_of(scratch / "plumbline.log").size(), 30u);
  EXPECT_GE(lines_of(scratch / "plumbline.log").size(), 10u);
}

TEST(Log, LinesOfThreadsDoNotMix) {
  const ScratchDirectory scratch;
  Log log;
  log.use_directory(scratch.path());
  log.release();
  std::vector<std::thread> threads;
  for (int i = 0; i < 5; ++i) {
    threads.emplace_back([&] { log.line(std::string(200, 'x')); });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::string& line : lines_of(scratch / "plumbline.log"))
    EXPECT_TRUE(line.ends_with(std::string(200, 'x')));
}

TEST(Log, UsesStandardErrorWhileThereIsNoDirectory) {
  const ScratchDirectory scratch;
  testing::run_in_child([&] {
    dup2(open((scratch / "stderr").c_str(), O_WRONLY | O_CREAT, 0644), STDERR_FILENO);
    Log log;
    log.release();
    log.line("no directory");
    log.use_directory(scratch / "absent");
    log.line("absent directory");
    log.bare_line("no memory");
  });
  ASSERT_EQ(lines_of(scratch / "stderr").size(), 3u);
  EXPECT_EQ(lines_of(scratch / "stderr")[2], "plumbline: no memory");
}

TEST(Log, AForkedChildHasOneOfItsOwn) {
  Log* before = &log();
  const int status = testing::run_in_child([] {
    renew_log_after_fork();
    log().line("held, as in any new process");
  });
  EXPECT_EQ(status, 0);
  EXPECT_EQ(&log(), before);
}

}  // namespace
}  // namespace plumbline::recorder
