#include "reader/run.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include <algorithm>

#include "reader/testing/records.hpp"

namespace plumbline::reader {
namespace {

using testing::open_run;
using testing::TempDir;
using testing::write_file;
using testing::write_small_trace;

constexpr std::uint64_t kSecond = 1'000'000'000;
constexpr std::uint64_t kWall = 1'700'000'000 * kSecond;

recorder::TraceBuilderOptions process(int rank, std::uint32_t pid, std::uint64_t start_s = 0, int attempt = 0) {
  recorder::TraceBuilderOptions options;
  options.pid = pid;
  options.rank = rank;
  options.world_size = 2;
  options.attempt = attempt;
  options.start_monotonic_ns = 1000 * kSecond + start_s * kSecond;
  options.start_realtime_ns = kWall + start_s * kSecond;
  return options;
}

Status status_of(const std::string& path) { return reader::Run::open(path).status(); }

TEST(RunTest, TracesByRank) {
  TempDir directory;
  write_small_trace(directory.path(), process(1, 11));
  write_small_trace(directory.path(), process(0, 10));
  const reader::Run run = open_run(directory.path());
  ASSERT_EQ(run.traces().size(), 2u);
  EXPECT_EQ(run.traces()[0].rank(), 0);
  EXPECT_EQ(run.traces()[1].rank(), 1);
  EXPECT_EQ(run.launches(), 1);
  EXPECT_EQ(run.world_size(), 2);
  EXPECT_TRUE(run.missing_ranks().empty());
  EXPECT_FALSE(run.stats().data_lost());
  EXPECT_EQ(run.find(1)->pid(), 11u);
  EXPECT_EQ(run.find(2), nullptr);
}

TEST(RunTest, MissingRanksAreALoss) {
  TempDir directory;
  write_small_trace(directory.path(), process(1, 11));
  const reader::Run run = open_run(directory.path());
  EXPECT_EQ(run.missing_ranks(), (std::vector<int>{0}));
  EXPECT_EQ(run.stats().value("ranks_missing"), 1u);
  EXPECT_TRUE(run.stats().data_lost());
}

TEST(RunTest, ATraceFileAloneIsARun) {
  TempDir directory;
  write_small_trace(directory.path(), process(1, 11));
  const std::string path = write_small_trace(directory.path(), process(0, 10));
  const reader::Run run = open_run(path);
  ASSERT_EQ(run.traces().size(), 1u);
  EXPECT_EQ(run.traces()[0].pid(), 10u);
}

TEST(RunTest, NamesDoNotMatter) {
  TempDir directory;
  const std::string path = write_small_trace(directory.path(), process(0, 10));
  ASSERT_EQ(rename(path.c_str(), (directory / "some file").c_str()), 0);
  EXPECT_EQ(open_run(directory.path()).traces().size(), 1u);
  EXPECT_EQ(open_run(directory / "some file").traces().size(), 1u);
}

TEST(RunTest, AttemptsOfOneLaunch) {
  TempDir directory;
  for (const int rank : {0, 1}) {
    write_small_trace(directory.path(), process(rank, 10 + static_cast<std::uint32_t>(rank), 0, 0));
    write_small_trace(directory.path(), process(rank, 20 + static_cast<std::uint32_t>(rank), 60, 1));
  }
  const reader::Run run = open_run(directory.path());
  ASSERT_EQ(run.traces().size(), 4u);
  EXPECT_EQ(run.launches(), 1);
  EXPECT_EQ(run.last_attempt(), 1);
  EXPECT_EQ(run.traces()[0].attempt(), 0);
  EXPECT_EQ(run.traces()[3].attempt(), 1);
  EXPECT_EQ(run.find(0)->pid(), 20u);
  EXPECT_EQ(run.find(0, 0)->pid(), 10u);
}

TEST(RunTest, TwoLaunchesInOneDirectory) {
  TempDir directory;
  for (const int rank : {0, 1}) {
    write_small_trace(directory.path(), process(rank, 10 + static_cast<std::uint32_t>(rank), 0));
    write_small_trace(directory.path(), process(rank, 20 + static_cast<std::uint32_t>(rank), 600));
  }
  const reader::Run run = open_run(directory.path());
  EXPECT_EQ(run.launches(), 2);
  EXPECT_EQ(run.traces()[0].launch(), 0);
  EXPECT_EQ(run.traces()[2].launch(), 1);
  EXPECT_EQ(run.find(1)->pid(), 21u) << "of the last launch";
  EXPECT_EQ(run.stats().value("launches"), 2u);
}

TEST(RunTest, AHelperThatInheritedTheRankIsNotALaunch) {
  TempDir directory;
  // The small trace lasts two milliseconds; the helper starts within.
  write_small_trace(directory.path(), process(0, 10));
  recorder::TraceBuilderOptions helper = process(0, 11);
  helper.start_monotonic_ns += 1'000'000;
  helper.start_realtime_ns += 1'000'000;
  write_small_trace(directory.path(), helper);
  const reader::Run run = open_run(directory.path());
  EXPECT_EQ(run.launches(), 1);
  EXPECT_EQ(run.find(0)->pid(), 10u);
}

TEST(RunTest, ProcessesWithoutARankGoWithTheirLaunch) {
  TempDir directory;
  write_small_trace(directory.path(), process(0, 10, 0));
  write_small_trace(directory.path(), process(0, 20, 600));
  {
    recorder::TraceBuilder builder(directory.path(), process(-1, 30, 700));
    builder.add(0, testing::alloc(1, 2, 3));
    builder.finish({});
  }
  const reader::Run run = open_run(directory.path());
  const auto late =
      std::find_if(run.traces().begin(), run.traces().end(), [](const Trace& t) { return t.pid() == 30; });
  ASSERT_NE(late, run.traces().end());
  EXPECT_EQ(late->launch(), 1) << "it started after the second one";
}

TEST(RunTest, ForeignFilesAreLeftAlone) {
  TempDir directory;
  write_small_trace(directory.path(), process(0, 10));
  write_file(directory / "notes.txt", "some notes");
  write_file(directory / "empty", "");
  const std::string text = "not a trace, but compressed";
  std::vector<std::uint8_t> compressed(ZSTD_compressBound(text.size()));
  compressed.resize(ZSTD_compress(compressed.data(), compressed.size(), text.data(), text.size(), 1));
  write_file(directory / "data.zst", compressed);
  const reader::Run run = open_run(directory.path());
  EXPECT_EQ(run.traces().size(), 1u);
  EXPECT_TRUE(run.skipped().empty());
  EXPECT_EQ(status_of(directory / "data.zst").code(), Code::kForeign);
  EXPECT_EQ(status_of(directory / "notes.txt").code(), Code::kForeign);
}

TEST(RunTest, UnreadableTracesAreSkippedWithASentence) {
  TempDir directory;
  write_small_trace(directory.path(), process(0, 10));
  write_small_trace(directory.path(), process(1, 11));
  write_file(directory / "broken.plt", "this is no trace at all");
  const reader::Run run = open_run(directory.path());
  EXPECT_EQ(run.traces().size(), 2u);
  ASSERT_EQ(run.skipped().size(), 1u);
  EXPECT_NE(run.skipped()[0].why.find("broken.plt"), std::string::npos);
  EXPECT_TRUE(run.stats().data_lost());
}

TEST(RunTest, OneClearSentenceForEachKindOfNothing) {
  TempDir directory;
  EXPECT_EQ(status_of(directory / "nowhere").message(), directory / "nowhere" + " does not exist.");
  EXPECT_EQ(status_of(directory.path()).message(), directory.path() + " holds no trace.");
  write_file(directory / "empty.plt", "");
  EXPECT_EQ(status_of(directory / "empty.plt").message(), directory / "empty.plt" + " is empty.");
  ASSERT_EQ(mkfifo((directory / "pipe").c_str(), 0600), 0);
  EXPECT_EQ(status_of(directory / "pipe").message(), directory / "pipe" + " is not a regular file.");
}

TEST(RunTest, TheDirectoryAboveRunsSaysSo) {
  TempDir directory;
  std::filesystem::create_directory(directory / "plumbline-run-1");
  write_small_trace(directory / "plumbline-run-1", process(0, 10));
  const Status status = status_of(directory.path());
  EXPECT_EQ(status.code(), Code::kEmpty);
  EXPECT_NE(status.message().find("plumbline-run-1"), std::string::npos);
}

TEST(RunTest, HiddenFilesOnlyOnRequest) {
  TempDir directory;
  const std::string path = write_small_trace(directory.path(), process(0, 10));
  ASSERT_EQ(rename(path.c_str(), (directory / ".pending-host-10.plt").c_str()), 0);
  EXPECT_EQ(status_of(directory.path()).code(), Code::kEmpty);
  EXPECT_TRUE(reader::Run::open(directory.path(), {.hidden = true}).ok());
}

TEST(RunTest, ADanglingLinkAndASubdirectoryAreNoTrouble) {
  TempDir directory;
  write_small_trace(directory.path(), process(0, 10));
  ASSERT_EQ(symlink("nowhere.plt", (directory / "link.plt").c_str()), 0);
  std::filesystem::create_directory(directory / "sub.plt");
  EXPECT_EQ(open_run(directory.path()).traces().size(), 1u);
}

}  // namespace
}  // namespace plumbline::reader
