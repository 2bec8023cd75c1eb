#include "recorder/captures.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <filesystem>
#include <vector>

#include "recorder/recorder.hpp"
#include "recorder/testing/child.hpp"
#include "recorder/testing/trace_contents.hpp"

namespace plumbline::recorder {
namespace {

namespace fs = std::filesystem;
using testing::run_in_child;
using testing::ScratchDirectory;

bool take(std::size_t bytes = 64) {
  const std::vector<std::uint8_t> data(bytes, 7);
  Capture capture{};
  capture.probe = "grad";
  capture.dtype = Dtype::kUint8;
  capture.amount = CaptureAmount::kFull;
  capture.data = data.data();
  capture.data_bytes = data.size();
  return plumbline::recorder::capture(capture);
}

Settings settings_in(const std::string& directory) {
  Settings settings;
  settings.run_directory = directory;
  return settings;
}

std::size_t files_in(const std::string& directory) {
  std::error_code none;
  std::size_t files = 0;
  for (fs::directory_iterator it(directory, none), end; !none && it != end; it.increment(none)) ++files;
  return files;
}

TEST(Captures, ThereIsNoFileBeforeTheFirstOne) {
  const ScratchDirectory scratch;
  const int status = run_in_child([&] {
    if (!start(settings_in(scratch / "run"))) std::_Exit(1);
    promote("test");
    if (files_in(scratch / "run/captures") != 0) std::_Exit(2);
    if (!take()) std::_Exit(3);
    flush_captures();
    if (files_in(scratch / "run/captures") != 1) std::_Exit(4);
    stop(0, 0);
    if (take()) std::_Exit(5);
  });
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST(Captures, TheTraceNamesTheFile) {
  const ScratchDirectory scratch;
  const int status = run_in_child([&] {
    if (!start(settings_in(scratch / "run"))) std::_Exit(1);
    promote("test");
    if (!take() || !take()) std::_Exit(2);
    stop(0, 0);
  });
  ASSERT_EQ(WEXITSTATUS(status), 0);
  for (const auto& entry : fs::directory_iterator(scratch / "run")) {
    if (entry.path().extension() != ".plt") continue;
    const auto trace = testing::read_trace(entry.path().string());
    ASSERT_EQ(trace.facts.count("captures.file"), 1U);
    EXPECT_TRUE(fs::exists(fs::path(scratch / "run") / trace.facts.find("captures.file")->second));
  }
}

TEST(Captures, NothingIsCapturedWithoutARecording) { EXPECT_FALSE(take()); }

TEST(Captures, EndAtTheirSize) {
  const ScratchDirectory scratch;
  const int status = run_in_child([&] {
    Settings settings = settings_in(scratch / "run");
    settings.max_capture_bytes = 1 << 20;
    if (!start(settings)) std::_Exit(1);
    promote("test");
    if (!take(1 << 19)) std::_Exit(2);
    if (take(1 << 20)) std::_Exit(3);
    if (take(1)) std::_Exit(4);
  });
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST(Captures, AForkedChildHasItsOwnFile) {
  const ScratchDirectory scratch;
  const int status = run_in_child([&] {
    if (!start(settings_in(scratch / "run"))) std::_Exit(1);
    promote("test");
    if (!take()) std::_Exit(2);
    fork_prepare();
    const pid_t child = fork();
    if (child == 0) {
      fork_child();
      if (take()) std::_Exit(3);
      if (!start(settings_in(scratch / "run")) || !take()) std::_Exit(4);
      stop(0, 0);
      std::_Exit(0);
    }
    fork_parent();
    int child_status = 0;
    waitpid(child, &child_status, 0);
    if (child_status != 0) std::_Exit(10 + WEXITSTATUS(child_status));
    if (!take()) std::_Exit(5);
    stop(0, 0);
    if (files_in(scratch / "run/captures") != 2) std::_Exit(6);
  });
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

}  // namespace
}  // namespace plumbline::recorder
