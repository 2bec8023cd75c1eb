#include "checks/capture_losses.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "checks/check.hpp"
#include "checks/testing/capture_job.hpp"
#include "checks/testing/fake_rank.hpp"

namespace plumbline::checks {
namespace {

using reader::testing::open_run;
using reader::testing::TempDir;
using recorder::Dtype;
using testing::bytes_of;
using testing::CaptureJob;

// Two ranks that stepped once; both left captures.
class CaptureLossesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    for (int rank = 0; rank < 2; ++rank) {
      testing::FakeRank trace(directory_.path(), rank, 2);
      trace.step(1, 2);
      if (rank > 0 || ends_) trace.exit(0);
      CaptureJob job(directory_.path(), rank);
      job.tensor("grad", "w", 0, Dtype::kFloat32, {2}, bytes_of(std::vector<float>{1, 2}));
      job.finish();
    }
  }

  std::string file(int rank) const { return directory_ / ("captures/rank" + std::to_string(rank) + ".plc"); }
  void cut(int rank, std::uintmax_t bytes) const {
    std::filesystem::resize_file(file(rank), std::filesystem::file_size(file(rank)) - bytes);
  }
  std::vector<std::string> losses() const {
    const reader::Run run = open_run(directory_.path());
    std::vector<std::string> texts;
    for (const CaptureLoss& loss : capture_losses(Subject(run))) texts.push_back(loss_text(loss));
    return texts;
  }

  bool ends_ = true;
  TempDir directory_;
};

// Whose process was killed, or still runs.
class UnendedCaptureLossesTest : public CaptureLossesTest {
 protected:
  UnendedCaptureLossesTest() { ends_ = false; }
};

TEST_F(CaptureLossesTest, NothingIsLost) { EXPECT_TRUE(losses().empty()) << losses().front(); }

TEST_F(CaptureLossesTest, AFileThatIsEmptyOrAnother) {
  std::ofstream(file(0), std::ios::trunc).close();
  std::vector<std::string> said = losses();
  ASSERT_EQ(said.size(), 2U);
  EXPECT_EQ(said[0], "captures are left out: " + file(0) + " is empty: no capture was written to it.");
  EXPECT_EQ(said[1], "rank 0: there are no captures of it, though it trained as others did");
  std::ofstream(file(0), std::ios::trunc) << "no captures";
  EXPECT_EQ(losses().size(), 2U);
}

TEST_F(CaptureLossesTest, AFileThatIsGone) {
  std::filesystem::remove(file(1));
  EXPECT_EQ(losses(), std::vector<std::string>{"rank 1: there are no captures of it, though it trained as others did"});
}

// Whose traces name their files.
class NamedCaptureLossesTest : public ::testing::Test {
 protected:
  // A rank that wrote captures, in an attempt that began so many seconds after the first.
  void write(int rank, int attempt, bool ends) {
    const testing::RankOptions options{.attempt = attempt,
                                       .pid = 100U + static_cast<std::uint32_t>(10 * attempt + rank),
                                       .start_monotonic_ns = 1'000'000'000ULL * (5 + 20 * attempt)};
    testing::FakeRank trace(directory_.path(), rank, 2, options);
    trace.trace().fact("captures.file", name(rank, attempt));
    trace.step(1, 2);
    if (ends) {
      trace.exit(0);
    } else {
      trace.killed();
    }
    CaptureJob job(directory_.path(), rank, options);
    job.tensor("grad", "w", 0, Dtype::kFloat32, {2}, bytes_of(std::vector<float>{1, 2}));
    job.finish();
    std::filesystem::rename(directory_ / ("captures/rank" + std::to_string(rank) + ".plc"), file(rank, attempt));
  }
  static std::string name(int rank, int attempt) {
    return "captures/rank" + std::to_string(rank) + "-a" + std::to_string(attempt) + ".plc";
  }
  std::string file(int rank, int attempt) const { return directory_ / name(rank, attempt); }
  std::vector<std::string> losses() const {
    const reader::Run run = open_run(directory_.path());
    std::vector<std::string> texts;
    for (const CaptureLoss& loss : capture_losses(Subject(run))) texts.push_back(loss_text(loss));
    return texts;
  }
  static std::string gone(int rank, int attempt) {
    return "rank " + std::to_string(rank) + ": the captures that it wrote to " + name(rank, attempt) + " are not there";
  }

  TempDir directory_;
};

using Texts = std::vector<std::string>;

TEST_F(NamedCaptureLossesTest, OfOneAttempt) {
  for (const int attempt : {0, 1}) {
    for (const int rank : {0, 1}) write(rank, attempt, attempt == 1);
  }
  EXPECT_EQ(losses(), Texts{});
  std::filesystem::remove(file(1, 0));
  EXPECT_EQ(losses(), Texts{gone(1, 0)});
  std::filesystem::remove(file(0, 0));
  EXPECT_EQ(losses(), (Texts{gone(0, 0), gone(1, 0)}));
  // Those of a later attempt in its place.
  std::filesystem::rename(file(1, 1), file(1, 0));
  EXPECT_EQ(losses(), (Texts{gone(0, 0), gone(1, 0)}));
}

TEST_F(NamedCaptureLossesTest, AllOfThem) {
  for (const int rank : {0, 1}) write(rank, 0, true);
  std::filesystem::remove_all(directory_ / "captures");
  EXPECT_EQ(losses(), (Texts{gone(0, 0), gone(1, 0)}));
  const reader::Run run = open_run(directory_.path());
  const Subject subject(run);
  for (const Check& check : all_checks()) {
    if (!check.of_captures) continue;
    EXPECT_TRUE(applies(check, subject)) << check.name;
    EXPECT_EQ(evaluate(check, subject).status, Status::kNotEvaluated) << check.name;
  }
}

TEST_F(NamedCaptureLossesTest, ADamagedFileIsToldOfOnce) {
  write(0, 0, true);
  write(1, 0, true);
  std::ofstream(file(0, 0), std::ios::trunc).close();
  EXPECT_EQ(losses(), Texts{"captures are left out: " + file(0, 0) + " is empty: no capture was written to it."});
}

TEST_F(NamedCaptureLossesTest, OneTraceAloneSaysNothingOfFilesBesideIt) {
  write(0, 0, true);
  for (const auto& entry : std::filesystem::directory_iterator(directory_.path())) {
    if (entry.path().extension() != ".plt") continue;
    const reader::Run run = open_run(entry.path().string());
    EXPECT_TRUE(capture_losses(Subject(run)).empty());
  }
}

TEST_F(CaptureLossesTest, EveryCutOfAProcessThatEndedInOrder) {
  for (auto left = std::filesystem::file_size(file(0)); left > 0; --left) {
    cut(0, 1);
    EXPECT_FALSE(losses().empty()) << left - 1 << " bytes";
  }
}

TEST_F(UnendedCaptureLossesTest, ACutIsNoDamageButTheMiddleIs) {
  cut(0, 1);
  EXPECT_TRUE(losses().empty()) << losses().front();
  std::fstream stream(file(0), std::ios::in | std::ios::out | std::ios::binary);
  stream.seekp(static_cast<std::streamoff>(std::filesystem::file_size(file(0)) / 2));
  stream.write("\xff\x00\xff\x00\xff\x00", 6);
  stream.close();
  EXPECT_FALSE(losses().empty());
}

TEST_F(CaptureLossesTest, WhatPassedIsUndecided) {
  cut(0, 1);
  const reader::Run run = open_run(directory_.path());
  const Subject subject(run);
  Verdict verdict;
  verdict.status = Status::kPass;
  verdict.reason = "all agree";
  qualify(verdict, {});
  EXPECT_EQ(verdict.status, Status::kPass);
  qualify(verdict, capture_losses(subject));
  EXPECT_EQ(verdict.status, Status::kInconclusive);
  EXPECT_EQ(verdict.reason, "part of what was captured is lost; of the rest: all agree");
  ASSERT_EQ(verdict.unknown.size(), 1U);
  for (const Check& check : all_checks()) {
    const Verdict one = evaluate(check, subject);
    if (!check.of_captures && check.name != "coverage") continue;
    EXPECT_NE(one.status, Status::kPass) << check.name;
    EXPECT_FALSE(one.unknown.empty()) << check.name;
  }
}

}  // namespace
}  // namespace plumbline::checks
