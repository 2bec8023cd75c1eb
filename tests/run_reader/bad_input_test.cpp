// What run-reader says when it is given the wrong thing: one sentence that names it, and the right exit status.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <random>

#include "checks/testing/fake_rank.hpp"
#include "tests/run_reader/said.hpp"

namespace plumbline::tests {
namespace {

using checks::testing::FakeRank;
using reader::testing::read_file;
using reader::testing::TempDir;
using reader::testing::write_file;

void expect_one_sentence_on(const std::string& path, const Said& said) {
  EXPECT_EQ(said.status, 2);
  EXPECT_EQ(said.out, "");
  EXPECT_NE(said.err.find(path), std::string::npos) << said.err;
  EXPECT_EQ(std::count(said.err.begin(), said.err.end(), '\n'), 1) << said.err;
}

std::string only_trace_in(const std::string& directory) {
  for (const auto& entry : std::filesystem::directory_iterator(directory)) {
    if (entry.path().extension() == ".plt") return entry.path();
  }
  ADD_FAILURE() << "no trace in " << directory;
  return {};
}

void write_run(const std::string& directory) {
  FakeRank rank(directory, 0, 1);
  rank.whole_call(1, 2, rank.group("0", "default_pg", "0"), checks::testing::Op::kAllReduce);
  for (int step = 0; step < 5; ++step) {
    rank.step(10 + step, 10.5 + step);
    rank.trace().flush();
  }
  rank.exit(0);
}

TEST(BadInputTest, NothingThere) {
  const TempDir directory;
  expect_one_sentence_on(directory / "absent", run({"summary", directory / "absent"}));
}

TEST(BadInputTest, WhatIsNotThereHasARemedy) {
  const TempDir directory;
  const std::string nothing_near = run({"summary", directory / "absent"}).err;
  EXPECT_NE(nothing_near.find("Give a run directory"), std::string::npos) << nothing_near;
  std::filesystem::create_directory(directory / "plumbline-run-7");
  write_run(directory / "plumbline-run-7");
  EXPECT_NE(run({"summary", directory / "absent"}).err.find("such as " + (directory / "plumbline-run-7")),
            std::string::npos);
  EXPECT_NE(run({"summary", ""}).err.find("run-reader: The name of the run is empty. Give"), std::string::npos);
}

TEST(BadInputTest, HiddenFilesAloneAreSaidToBeThere) {
  const TempDir directory;
  write_run(directory.path());
  const std::filesystem::path trace = only_trace_in(directory.path());
  std::filesystem::rename(trace, directory / (".pending-" + trace.filename().string()));
  const Said said = run({"summary", directory.path()});
  expect_one_sentence_on(directory.path(), said);
  EXPECT_NE(said.err.find("plumbline doctor"), std::string::npos) << said.err;
}

TEST(BadInputTest, ARankThatTheRunDoesNotHave) {
  const TempDir directory;
  write_run(directory.path());
  const Said said = run({"ranks", directory.path(), "--rank", "7"});
  EXPECT_EQ(said.status, 2);
  EXPECT_EQ(said.err, "run-reader: --rank: this run has no such rank; it has rank 0.\n");
}

TEST(BadInputTest, ADirectoryWithoutTraces) {
  const TempDir directory;
  expect_one_sentence_on(directory.path(), run({"summary", directory.path()}));
  write_file(directory / "notes.txt", std::string_view("nothing to see"));
  expect_one_sentence_on(directory.path(), run({"summary", directory.path()}));
}

TEST(BadInputTest, ATextFile) {
  const TempDir directory;
  write_file(directory / "train.log", std::string_view("step 1 loss 2.3\n"));
  expect_one_sentence_on(directory / "train.log", run({"summary", directory / "train.log"}));
}

TEST(BadInputTest, AnEmptyFile) {
  const TempDir directory;
  write_file(directory / "empty.plt", std::string_view(""));
  expect_one_sentence_on(directory / "empty.plt", run({"verify", directory / "empty.plt"}));
}

// A zstd file of somebody else's: "Hello, world" compressed, with its checksum.
TEST(BadInputTest, AZstdFileThatIsNoTrace) {
  const TempDir directory;
  const std::vector<std::uint8_t> hello = {0x28, 0xb5, 0x2f, 0xfd, 0x20, 0x0c, 0x61, 0x00, 0x00, 0x48, 0x65,
                                           0x6c, 0x6c, 0x6f, 0x2c, 0x20, 0x77, 0x6f, 0x72, 0x6c, 0x64};
  write_file(directory / "model.zst", hello);
  expect_one_sentence_on(directory / "model.zst", run({"summary", directory / "model.zst"}));
}

TEST(BadInputTest, EveryCommandRefusesTheSameWay) {
  for (const char* command :
       {"summary", "ranks", "collectives", "allocations", "optimizer", "ranges", "events", "dump", "verify"}) {
    EXPECT_EQ(run({command, "/no/such/run"}).status, 2) << command;
  }
  EXPECT_EQ(run({"export", "/no/such/run", "--perfetto", "-o", "-"}).status, 2);
}

TEST(BadInputTest, WrongUsage) {
  EXPECT_EQ(run({}).status, 2);
  EXPECT_EQ(run({"conquer", "x"}).status, 2);
  EXPECT_EQ(run({"summary"}).status, 2);
  EXPECT_EQ(run({"summary", "x", "--no-such-option"}).status, 2);
  EXPECT_NE(run({"conquer", "x"}).err.find("--help"), std::string::npos);
}

TEST(BadInputTest, HelpAndVersionAreFine) {
  const Said help = run({"--help"});
  EXPECT_EQ(help.status, 0);
  EXPECT_NE(help.out.find("summary"), std::string::npos);
  EXPECT_EQ(help.err, "");
  EXPECT_EQ(run({"events", "--help"}).status, 0);
  EXPECT_EQ(run({"--version"}).out.rfind("run-reader ", 0), 0U);
}

TEST(BadInputTest, ATruncatedTraceIsReadUpToItsLastWholeFrame) {
  const TempDir directory;
  write_run(directory.path());
  const std::string path = only_trace_in(directory.path());
  auto bytes = read_file(path);
  bytes.resize(bytes.size() * 2 / 3);
  write_file(path, bytes);
  const Said verify = run({"verify", directory.path()});
  EXPECT_EQ(verify.status, 3) << verify.out;
  EXPECT_NE(verify.out.find("partial"), std::string::npos) << verify.out;
  const Said summary = run({"summary", directory.path()});
  EXPECT_NE(summary.status, 0);
  EXPECT_NE(summary.status, 2);
}

TEST(BadInputTest, AWholeTraceVerifies) {
  const TempDir directory;
  write_run(directory.path());
  const Said said = run({"verify", directory.path()});
  EXPECT_EQ(said.status, 0);
  EXPECT_NE(said.out.find("whole"), std::string::npos);
  EXPECT_NE(said.out.find("Nothing is lost."), std::string::npos);
}

TEST(BadInputTest, AForeignFileInARunIsSkippedWithAWord) {
  const TempDir directory;
  write_run(directory.path());
  write_file(directory / "stray.plt", std::string_view("this is no trace at all"));
  const Said said = run({"verify", directory.path()});
  EXPECT_NE(said.out.find("stray.plt"), std::string::npos) << said.out;
}

// Three bits flipped: no crash, a defined exit status, and never a word of damage to the terminal.
TEST(BadInputTest, DamagedTracesGiveADefinedAnswer) {
  const TempDir directory;
  write_run(directory.path());
  const std::string path = only_trace_in(directory.path());
  const auto whole = read_file(path);
  std::mt19937 random(7);
  for (int round = 0; round < 40; ++round) {
    auto bytes = whole;
    for (int flip = 0; flip < 3; ++flip) bytes[random() % bytes.size()] ^= static_cast<std::uint8_t>(1 << random() % 8);
    write_file(path, bytes);
    for (const char* command : {"summary", "verify", "dump"}) {
      const Said said = run({command, directory.path()});
      EXPECT_GE(said.status, 0);
      EXPECT_LE(said.status, 3);
      EXPECT_EQ(said.out.find('\x1b'), std::string::npos);
    }
  }
}

TEST(BadInputTest, ANameFullOfEscapeSequencesIsDisarmed) {
  const TempDir directory;
  {
    FakeRank rank(directory.path(), 0, 1, {.host = "evil\x1b[2Jhost"});
    rank.trace().fact("process.command", "python \x1b]0;owned\x07 train.py");
    rank.range(1, 2, "range\x1b[31m");
    rank.step(3, 4);
    rank.exit(1, 0, "Error\x1b[5m", "message\x1b[5m");
  }
  for (const char* command : {"summary", "ranks", "ranges", "events", "optimizer", "verify", "collectives"}) {
    EXPECT_EQ(run({command, directory.path()}).out.find('\x1b'), std::string::npos) << command;
  }
}

// A pipe whose reader went away.
TEST(BadInputTest, OutputThatCannotBeWrittenIsAnError) {
  const TempDir directory;
  write_run(directory.path());
  std::ofstream full("/dev/full");
  std::ostringstream err;
  EXPECT_EQ(tools::run_reader({"dump", directory.path()}, full, err, false), 2);
  EXPECT_NE(err.str().find("could not be written"), std::string::npos);
}

// As root a rename over a device would replace it for the whole machine.
TEST(BadInputTest, AnOutputThatIsNoRegularFileStaysWhatItIs) {
  const TempDir directory;
  write_run(directory.path());
  const std::string pipe = directory / "pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  const int reader = open(pipe.c_str(), O_RDONLY | O_NONBLOCK);
  ASSERT_GE(reader, 0);
  EXPECT_EQ(run({"diagnose", directory.path(), "--junit", pipe}).status, 0);
  EXPECT_TRUE(std::filesystem::is_fifo(pipe));
  std::array<char, 5> start{};
  EXPECT_EQ(read(reader, start.data(), start.size()), 5);
  EXPECT_EQ(std::string_view(start.data(), start.size()), "<?xml");
  close(reader);
}

TEST(BadInputTest, AnOutputThroughALinkReplacesWhatTheLinkLeadsTo) {
  const TempDir directory;
  write_run(directory.path());
  write_file(directory / "old.html", std::string_view("old"));
  std::filesystem::create_symlink("old.html", directory / "link.html");
  EXPECT_EQ(run({"report", directory.path(), "-o", directory / "link.html"}).status, 0);
  EXPECT_TRUE(std::filesystem::is_symlink(directory / "link.html"));
  EXPECT_GT(read_file(directory / "old.html").size(), 100U);
}

TEST(BadInputTest, NoCommandWritesOverARecording) {
  const TempDir directory;
  write_run(directory.path());
  const std::string trace = only_trace_in(directory.path());
  const auto before = read_file(trace);
  for (const auto& arguments : std::vector<std::vector<std::string>>{
           {"report", directory.path(), "-o", trace},
           {"export", directory.path(), "--perfetto", "-o", trace},
           {"diagnose", directory.path(), "--junit", trace},
       }) {
    const Said said = run(arguments);
    EXPECT_EQ(said.status, 2) << arguments.front();
    EXPECT_NE(said.err.find("name another file"), std::string::npos) << said.err;
  }
  EXPECT_EQ(read_file(trace), before);
}

TEST(BadInputTest, AnOutputThatCannotBeMadeSaysWhy) {
  const TempDir directory;
  write_run(directory.path());
  const Said said = run({"diagnose", directory.path(), "--junit", directory / "absent/x.xml"});
  EXPECT_EQ(said.status, 2);
  EXPECT_NE(said.err.find("absent/x.xml could not be written: No such file or directory"), std::string::npos);
  EXPECT_EQ(run({"report", directory.path(), "-o", directory.path()}).status, 2);
  EXPECT_EQ(run({"report", directory.path(), "-o", "/dev/full"}).status, 2);
}

TEST(BadInputTest, AConfigurationThatIsNoFile) {
  const TempDir directory;
  write_run(directory.path());
  expect_one_sentence_on("nothing.json", run({"memory", directory.path(), "--config", directory / "nothing.json"}));
  expect_one_sentence_on(directory.path(), run({"memory", directory.path(), "--config", directory.path()}));
}

TEST(BadInputTest, WhatIsNoTraceIsSaidToBeWhatItLooksLike) {
  const TempDir directory;
  write_file(directory / "a.plot", std::string_view("\x89PNG\r\n\x1a\n"));
  const std::string picture = run({"ranks", directory / "a.plot"}).err;
  EXPECT_NE(picture.find("looks like a PNG picture"), std::string::npos) << picture;
  write_file(directory / "profile.json", std::string_view("{\"schemaVersion\": 1, \"traceEvents\": []}"));
  const std::string profile = run({"ranks", directory / "profile.json"}).err;
  EXPECT_NE(profile.find("is a Kineto trace: run-reader diagnose"), std::string::npos) << profile;
}

// What a shell makes of RUN/*.
TEST(BadInputTest, SeveralRecordingsAtOnce) {
  const TempDir directory;
  write_run(directory.path());
  const std::string trace = only_trace_in(directory.path());
  expect_one_sentence_on(trace, run({"diagnose", trace, directory.path()}));
}

// Every command, and not only those with a verdict: a table over half of the run looks like one over all of it.
TEST(BadInputTest, EveryCommandTellsOfLostData) {
  const TempDir directory;
  write_run(directory.path());
  const std::string trace = only_trace_in(directory.path());
  std::filesystem::resize_file(trace, std::filesystem::file_size(trace) / 2);
  for (const char* command : {"ranks", "collectives", "allocations", "memory", "optimizer", "ranges", "stacks",
                              "stragglers", "events", "dump"}) {
    const Said said = run({command, directory.path()});
    EXPECT_EQ(said.status, 3) << command;
    EXPECT_NE(said.err.find("run-reader verify"), std::string::npos) << command << said.err;
    EXPECT_NE(said.err.find(trace), std::string::npos) << command << said.err;
  }
}

}  // namespace
}  // namespace plumbline::tests
