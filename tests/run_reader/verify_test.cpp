// `verify`: each kind of loss is named, with what was still read.
#include <gtest/gtest.h>

#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <filesystem>

#include "checks/testing/capture_job.hpp"
#include "checks/testing/fake_rank.hpp"
#include "recorder/captures.hpp"
#include "recorder/recorder.hpp"
#include "tests/run_reader/said.hpp"

namespace plumbline::tests {
namespace {

using checks::testing::bytes_of;
using checks::testing::CaptureJob;
using checks::testing::FakeRank;
using checks::testing::RankOptions;
using reader::testing::read_file;
using reader::testing::TempDir;
using reader::testing::write_file;

void train(FakeRank& rank) {
  for (int step = 0; step < 6; ++step) {
    rank.step(10 * step + 1, 10 * step + 2);
    rank.trace().flush();
  }
}

std::string trace_in(const std::string& directory, std::string_view words = ".plt") {
  for (const auto& entry : std::filesystem::directory_iterator(directory)) {
    const std::string name = entry.path().filename().string();
    if (name.find(words) != std::string::npos && name.ends_with(".plt")) return entry.path();
  }
  ADD_FAILURE() << "no trace " << words;
  return {};
}

TEST(VerifyTest, WholeTraces) {
  const TempDir directory;
  for (const int number : {0, 1}) {
    FakeRank rank(directory.path(), number, 2);
    train(rank);
    rank.exit(0);
  }
  const Said said = run({"verify", directory.path()});
  EXPECT_EQ(said.status, 0);
  ASSERT_EQ(said.lines().size(), 3U) << said.out;
  EXPECT_TRUE(said.lines()[0].starts_with("whole    rank0-"));
  EXPECT_NE(said.lines()[0].find("18 events read, clean end"), std::string::npos);
  EXPECT_EQ(said.lines()[2], "Nothing is lost.");
}

TEST(VerifyTest, CapturesThatAreCutOff) {
  const TempDir directory;
  FakeRank rank(directory.path(), 0, 1);
  train(rank);
  rank.exit(0);
  CaptureJob job(directory.path(), 0);
  job.tensor("grad", "w", 0, recorder::Dtype::kFloat32, {1}, bytes_of(std::vector<float>{1}));
  job.finish();
  EXPECT_EQ(run({"verify", directory.path()}).status, 0);
  const std::string file = directory / "captures/rank0.plc";
  std::filesystem::resize_file(file, std::filesystem::file_size(file) - 1);
  const Said said = run({"verify", directory.path()});
  EXPECT_EQ(said.status, 3);
  EXPECT_NE(said.out.find("partial  captures: rank 0: captures are damaged: "), std::string::npos) << said.out;
  for (const std::string& line : said.lines()) EXPECT_LE(line.size(), 100U) << line;
  EXPECT_NE(run({"verify", "--json", directory.path()}).out.find("captures_lost"), std::string::npos);
  EXPECT_EQ(run({"check", "--all", directory.path()}).status, 3);
  EXPECT_EQ(run({"diagnose", directory.path()}).status, 3);
}

// A process that records and captures until it is killed.
class Victim {
 public:
  explicit Victim(const std::string& directory) {
    std::array<int, 2> ready{};
    EXPECT_EQ(pipe(ready.data()), 0);
    pid_ = fork();
    if (pid_ == 0) {
      recorder::Settings settings;
      settings.run_directory = directory;
      recorder::start(settings);
      recorder::promote("collective");
      recorder::push(reader::testing::alloc(recorder::now_ns(), 1, 64).header);
      recorder::Capture row{};
      row.probe = "loss";
      recorder::capture(row);
      recorder::flush_captures();
      [[maybe_unused]] const auto written = write(ready[1], "x", 1);
      pause();
      _exit(1);
    }
    char byte = 0;
    EXPECT_EQ(read(ready[0], &byte, 1), 1);
    for (const int end : ready) close(end);
  }
  ~Victim() { kill(); }
  Victim(const Victim&) = delete;
  Victim& operator=(const Victim&) = delete;

  void kill() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
    pid_ = 0;
  }

 private:
  pid_t pid_;
};

TEST(VerifyTest, ARunThatIsStillBeingWritten) {
  const TempDir directory;
  Victim victim(directory.path());
  const Said growing = run({"verify", directory.path()});
  EXPECT_EQ(growing.status, 0) << growing.out;
  EXPECT_NE(growing.out.find("still running, so far"), std::string::npos) << growing.out;
  EXPECT_EQ(growing.lines().back(), "Nothing is lost. A process is still at work: this is what there was by now.");
  EXPECT_TRUE(run({"verify", "--json", directory.path()}).json()["traces"][0]["running"].get<bool>());
  const Said check = run({"check", "loss", directory.path()});
  EXPECT_EQ(check.status, 3) << check.out;
  EXPECT_NE(check.out.find("will capture from now on: still at work"), std::string::npos) << check.out;
  victim.kill();
  const Said ended = run({"verify", directory.path()});
  EXPECT_EQ(ended.status, 0) << ended.out;
  EXPECT_EQ(ended.lines().back(), "Nothing is lost.");
}

TEST(VerifyTest, DropsAreCountedByKind) {
  const TempDir directory;
  FakeRank rank(directory.path(), 0, 1);
  rank.trace().drop(recorder::Kind::kAlloc, 1234);
  rank.trace().drop(recorder::Kind::kFree, 1);
  train(rank);
  rank.exit(0);
  const Said said = run({"verify", directory.path()});
  EXPECT_EQ(said.status, 3);
  EXPECT_NE(said.out.find("1,234 events alloc dropped by a full ring"), std::string::npos) << said.out;
  EXPECT_NE(said.out.find("1 event free dropped"), std::string::npos) << said.out;
  EXPECT_NE(said.out.find("PLUMBLINE_RING_KB"), std::string::npos);
}

TEST(VerifyTest, AKilledProcessWithoutItsRing) {
  const TempDir directory;
  FakeRank rank(directory.path(), 0, 1);
  train(rank);
  rank.killed();
  const Said said = run({"verify", directory.path()});
  EXPECT_EQ(said.status, 3);
  EXPECT_NE(said.out.find("no ring file beside it"), std::string::npos) << said.out;
  EXPECT_NE(said.out.find("18 events read"), std::string::npos) << said.out;
}

TEST(VerifyTest, ADamagedFrameIsSkippedAndTheRestIsRead) {
  const TempDir directory;
  FakeRank rank(directory.path(), 0, 1);
  train(rank);
  rank.exit(0);
  const std::string path = trace_in(directory.path());
  const auto whole = read_file(path);
  int losing = 0;
  for (std::size_t at = 0; at < whole.size(); at += 41) {
    auto bytes = whole;
    bytes[at] ^= 0xff;
    write_file(path, bytes);
    const Said said = run({"verify", directory.path(), "--json"});
    const auto report = said.json()["traces"][0];
    EXPECT_GE(report["events"], 15) << "byte " << at;
    if (report["events"] == 18) continue;
    ++losing;
    EXPECT_EQ(said.status, 3) << "byte " << at;
    EXPECT_FALSE(report["losses"].empty()) << "byte " << at;
  }
  EXPECT_GT(losing, 5);
}

TEST(VerifyTest, AMissingRankIsNamed) {
  const TempDir directory;
  FakeRank rank(directory.path(), 0, 3);
  train(rank);
  rank.exit(0);
  const Said said = run({"verify", directory.path()});
  EXPECT_NE(said.out.find("rank 1: there is no trace of it"), std::string::npos) << said.out;
  EXPECT_EQ(run({"verify", directory.path(), "--json"}).json()["missing_ranks"], nlohmann::json::array({1, 2}));
}

TEST(VerifyTest, AProcessWithoutARankIsNamedByItsNumber) {
  const TempDir directory;
  FakeRank rank(directory.path(), -1, -1, {.pid = 4711});
  train(rank);
  rank.exit(0);
  EXPECT_NE(run({"verify", directory.path()}).out.find("(process 4711)"), std::string::npos);
}

TEST(VerifyTest, AnAttemptIsNamed) {
  const TempDir directory;
  for (const int attempt : {0, 1}) {
    RankOptions options;
    options.attempt = attempt;
    options.pid = 3000U + static_cast<unsigned>(attempt);
    FakeRank rank(directory.path(), 0, 1, options);
    train(rank);
    rank.exit(0);
  }
  EXPECT_NE(run({"verify", directory.path()}).out.find("(rank 0, attempt 1)"), std::string::npos);
}

}  // namespace
}  // namespace plumbline::tests
