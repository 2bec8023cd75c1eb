// Disks that are full, read-only or gone: recording ends with one line, the job runs on, and what was recorded is kept.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <thread>

#include "recorder/recorder.hpp"
#include "recorder/ring_file.hpp"
#include "recorder/testing/child.hpp"
#include "recorder/testing/records.hpp"
#include "recorder/testing/trace_contents.hpp"

namespace plumbline::recorder {
namespace {

using testing::only_file;
using testing::run_in_child;
using testing::ScratchDirectory;

// A file system of the test's own, in a mount namespace of the calling process.
void mount_tmpfs(const std::string& directory, const char* options, unsigned long flags = 0) {
  if (unshare(CLONE_NEWNS) != 0 && unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) std::_Exit(90);
  mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr);
  if (mount("tmpfs", directory.c_str(), "tmpfs", flags, options) != 0) std::_Exit(91);
}

void send_stderr_to(const std::string& path) {
  const int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644);
  dup2(fd, STDERR_FILENO);
  close(fd);
}

std::vector<std::string> lines_of(const std::string& path) {
  std::ifstream file(path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

Settings small_settings(const std::string& directory) {
  Settings settings;
  settings.run_directory = directory;
  settings.ring_bytes = 256 << 10;
  settings.memory_bytes = 1 << 20;
  settings.flush_ms = 1;
  return settings;
}

// Pushes hard-to-compress events until recording ends by itself; how many were taken. -1: it never ended.
int push_until_inactive() {
  int pushed = 0;
  std::uint64_t address = 1;
  for (int round = 0; round < 3000 && active(); ++round) {
    for (int i = 0; i < 500; ++i) {
      address = address * 6364136223846793005u + 1442695040888963407u;
      if (push(testing::alloc_record(now_ns(), address, address >> 20).header)) ++pushed;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return active() ? -1 : pushed;
}

std::size_t allocations(const std::vector<testing::Event>& events) {
  return static_cast<std::size_t>(
      std::count_if(events.begin(), events.end(), [](const auto& event) { return event.kind == Kind::kAlloc; }));
}

TEST(DiskFault, AFullDiskEndsRecordingAndKeepsWhatThereIs) {
  const ScratchDirectory scratch;
  std::filesystem::create_directory(scratch / "disk");
  const int status = run_in_child([&] {
    mount_tmpfs(scratch / "disk", "size=4m");
    send_stderr_to(scratch / "stderr");
    if (!start(small_settings(scratch / "disk/run"))) std::_Exit(1);
    promote("step");
    const int pushed = push_until_inactive();
    if (pushed < 1000) std::_Exit(2);
    for (int i = 0; i < 1000; ++i) {
      if (push(testing::alloc_record(now_ns(), 1, 1).header)) std::_Exit(3);
    }
    stop(0, 0);
    const auto events =
        testing::all_events(only_file(scratch / "disk/run", ".plt"), only_file(scratch / "disk/run", ".ring"));
    if (allocations(events) != static_cast<std::size_t>(pushed)) std::_Exit(4);
    // The log may still have found room for its line.
    const std::string log = scratch / "disk/run/plumbline.log";
    if (std::filesystem::exists(log) && std::filesystem::file_size(log) > 0) {
      std::filesystem::copy_file(log, scratch / "stderr", std::filesystem::copy_options::overwrite_existing);
    }
  });
  EXPECT_EQ(status, 0);
  const auto lines = lines_of(scratch / "stderr");
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_NE(lines[0].find("No space left on device"), std::string::npos);
}

TEST(DiskFault, NoRoomForTheRingMeansNoRecording) {
  const ScratchDirectory scratch;
  std::filesystem::create_directory(scratch / "disk");
  const int status = run_in_child([&] {
    mount_tmpfs(scratch / "disk", "size=64k");
    send_stderr_to(scratch / "stderr");
    std::ofstream(scratch / "disk/filler") << std::string(60 << 10, 'x');
    if (start(small_settings(scratch / "disk/run"))) {
      // The headers fitted: the first thread's ring does not.
      push(testing::alloc_record(now_ns(), 1, 1).header);
      if (push_until_inactive() != 0) std::_Exit(1);
    }
    promote("step");
    stop(0, 0);
  });
  EXPECT_EQ(status, 0);
  EXPECT_EQ(lines_of(scratch / "stderr").size(), 1u);
}

TEST(DiskFault, AReadOnlyDirectoryIsSaidOnceAndOnlyByAProcessThatTrains) {
  const ScratchDirectory scratch;
  std::filesystem::create_directory(scratch / "disk");
  const int status = run_in_child([&] {
    mount_tmpfs(scratch / "disk", "size=4m", MS_RDONLY);
    send_stderr_to(scratch / "stderr");
    if (start(small_settings(scratch / "disk/run")) || active()) std::_Exit(1);
    if (start(small_settings(scratch / "disk/run"))) std::_Exit(2);
    if (std::filesystem::file_size(scratch / "stderr") != 0) std::_Exit(3);
    promote("step");
    promote("step");
    push(testing::alloc_record(now_ns(), 1, 1).header);
    stop(0, 0);
  });
  EXPECT_EQ(status, 0);
  const auto lines = lines_of(scratch / "stderr");
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_NE(lines[0].find("Read-only file system"), std::string::npos);
}

TEST(DiskFault, AVanishedDirectoryEndsRecording) {
  const ScratchDirectory scratch;
  const int status = run_in_child([&] {
    send_stderr_to(scratch / "stderr");
    if (!start(small_settings(scratch / "run"))) std::_Exit(1);
    promote("step");
    push(testing::alloc_record(now_ns(), 1, 1).header);
    std::filesystem::remove_all(scratch / "run");
    if (push_until_inactive() < 0) std::_Exit(2);
    stop(0, 0);
  });
  EXPECT_EQ(status, 0);
  EXPECT_FALSE(std::filesystem::exists(scratch / "run"));
  const auto lines = lines_of(scratch / "stderr");
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_NE(lines[0].find("was deleted"), std::string::npos);
}

// A daemon closes every descriptor, and then opens files of its own under the same numbers.
TEST(DiskFault, DescriptorsThatTheJobClosesAreOpenedAnewAndNeverWrittenThrough) {
  const ScratchDirectory scratch;
  const int status = run_in_child([&] {
    send_stderr_to(scratch / "stderr");
    if (!start(small_settings(scratch / "run"))) std::_Exit(1);
    promote("step");
    push(testing::alloc_record(now_ns(), 1, 1).header);
    for (int round = 0; round < 3; ++round) {
      close_range(3, ~0U, 0);
      for (int i = 0; i < 150; ++i) {
        open((scratch / ("own" + std::to_string(i))).c_str(), O_RDWR | O_CREAT, 0644);
      }
      for (int i = 0; i < 100; ++i) {
        push(testing::alloc_record(now_ns(), 1, 1).header);
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
      std::thread([] { push(testing::alloc_record(now_ns(), 1, 1).header); }).join();
    }
    if (!active()) std::_Exit(2);
    stop(0, 0);
    for (int i = 0; i < 150; ++i) {
      if (std::filesystem::file_size(scratch / ("own" + std::to_string(i))) != 0) std::_Exit(3);
    }
  });
  EXPECT_EQ(status, 0);
  EXPECT_FALSE(std::filesystem::exists(scratch / "run/plumbline.log"));
  const auto contents = testing::read_trace(only_file(scratch / "run", ".plt"));
  EXPECT_TRUE(contents.has_exit);
  EXPECT_EQ(allocations(contents.events), 1u + 3 * 101);
}

// What becomes of a process whose recording has ended is in the ring's header.
TEST(DiskFault, TheRingTellsWhyRecordingEndedAndThatTheProcessDidLater) {
  const ScratchDirectory scratch;
  std::filesystem::create_directory(scratch / "disk");
  const int status = run_in_child([&] {
    mount_tmpfs(scratch / "disk", "size=4m");
    send_stderr_to(scratch / "stderr");
    if (!start(small_settings(scratch / "disk/run"))) std::_Exit(1);
    promote("step");
    if (push_until_inactive() < 0) std::_Exit(2);
    stop(7, 0);
    std::filesystem::remove(scratch / "disk/run/plumbline.log");
    std::ifstream file(only_file(scratch / "disk/run", ".ring"), std::ios::binary);
    std::vector<char> bytes(sizeof(RingFileHeader));
    file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    const auto& ring = *reinterpret_cast<const RingFileHeader*>(bytes.data());
    if (std::string(ring.stop_reason).find("No space left") == std::string::npos) std::_Exit(3);
    if (ring.stopped_ns == 0 || ring.exit_ns < ring.stopped_ns || ring.exit_status != 7) std::_Exit(4);
  });
  EXPECT_EQ(status, 0);
}

// The disk was full before the process had shown that it trains.
TEST(DiskFault, WhatWasRecordedUntilThenGetsItsNameWhenTheProcessTrains) {
  for (const bool trains : {true, false}) {
    const ScratchDirectory scratch;
    std::filesystem::create_directory(scratch / "disk");
    const int status = run_in_child([&] {
      mount_tmpfs(scratch / "disk", "size=2m");
      send_stderr_to(scratch / "stderr");
      if (!start(small_settings(scratch / "disk/run"))) std::_Exit(1);
      push(testing::alloc_record(now_ns(), 1, 1).header);
      const int filler = open((scratch / "disk/filler").c_str(), O_WRONLY | O_CREAT, 0644);
      const std::string block(4096, 'x');
      while (write(filler, block.data(), block.size()) > 0) continue;
      if (push_until_inactive() < 0) std::_Exit(2);
      if (trains) promote("step");
      if (trains != promoted()) std::_Exit(3);
      stop(0, 0);
      const auto files = testing::files_in(scratch / "disk");
      if (!trains) std::_Exit(std::filesystem::exists(scratch / "disk/run") ? 4 : 0);
      if (!only_file(scratch / "disk/run", ".ring").ends_with(".ring")) std::_Exit(5);
      if (only_file(scratch / "disk/run", ".ring").find(".pending") != std::string::npos) std::_Exit(6);
    });
    EXPECT_EQ(status, 0) << trains;
  }
}

TEST(DiskFault, ADirectoryThatIsAFile) {
  const ScratchDirectory scratch;
  std::ofstream(scratch / "run") << "not a directory";
  const int status = run_in_child([&] {
    send_stderr_to(scratch / "stderr");
    if (start(small_settings(scratch / "run"))) std::_Exit(1);
    promote("step");
  });
  EXPECT_EQ(status, 0);
  EXPECT_EQ(lines_of(scratch / "stderr").size(), 1u);
}

}  // namespace
}  // namespace plumbline::recorder
