// The parts of the recorder that are a page each: files, memory readings, the control file, waiting, hook states.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

#include "recorder/clock.hpp"
#include "recorder/control_file.hpp"
#include "recorder/file_io.hpp"
#include "recorder/hook_table.hpp"
#include "recorder/memory_probe.hpp"
#include "recorder/seek_table.hpp"
#include "recorder/small_file.hpp"
#include "recorder/testing/child.hpp"
#include "recorder/wakeup.hpp"

namespace plumbline::recorder {
namespace {

using testing::ScratchDirectory;

TEST(SmallFile, ReadsUpToItsLimit) {
  const ScratchDirectory scratch;
  std::ofstream(scratch / "file") << "hello world";
  EXPECT_EQ(read_small_file((scratch / "file").c_str()), "hello world");
  EXPECT_EQ(read_small_file((scratch / "file").c_str(), 5), "hello");
  EXPECT_EQ(read_small_file((scratch / "absent").c_str()), std::nullopt);
  EXPECT_EQ(read_small_file(scratch.path().c_str()), std::nullopt);
}

TEST(FileIo, WritesAndReadsAtAPlace) {
  const ScratchDirectory scratch;
  const int fd = open((scratch / "file").c_str(), O_RDWR | O_CREAT, 0644);
  const std::vector<std::uint8_t> data{1, 2, 3};
  EXPECT_EQ(write_at(fd, data, 5), 0);
  std::vector<std::uint8_t> back(3);
  EXPECT_EQ(read_at(fd, back, 5), 0);
  EXPECT_EQ(back, data);
  EXPECT_EQ(read_at(fd, back, 6), EIO);
  close(fd);
  EXPECT_EQ(write_at(fd, data, 0), EBADF);
  EXPECT_EQ(read_at(fd, back, 0), EBADF);
}

TEST(FileIo, AFullDiskIsAnError) {
  const int fd = open("/dev/full", O_WRONLY);
  EXPECT_EQ(write_at(fd, std::vector<std::uint8_t>{1}, 0), ENOSPC);
  close(fd);
}

TEST(FileIo, ADescriptorHasTheIdentityOfItsFile) {
  const ScratchDirectory scratch;
  const int a = open((scratch / "a").c_str(), O_RDWR | O_CREAT, 0644);
  const int again = open((scratch / "a").c_str(), O_RDWR);
  const int b = open((scratch / "b").c_str(), O_RDWR | O_CREAT, 0644);
  EXPECT_EQ(identity_of(a), identity_of(again));
  EXPECT_NE(identity_of(a), identity_of(b));
  EXPECT_EQ(identity_of(-1), FileIdentity{});
  for (const int fd : {a, again, b}) close(fd);
}

TEST(SeekTable, HasTheLayoutOfTheSeekableFormat) {
  struct Entry {
    std::uint32_t compressed, decompressed;
  };
  const std::vector<std::uint8_t> table = seek_table(std::vector<Entry>{{0x01020304, 5}, {6, 7}});
  const std::vector<std::uint8_t> expected{0x5e, 0x2a, 0x4d, 0x18, 25, 0, 0, 0, 4, 3, 2, 1, 5,    0,    0,    0,   6,
                                           0,    0,    0,    7,    0,  0, 0, 2, 0, 0, 0, 0, 0xb1, 0xea, 0x92, 0x8f};
  EXPECT_EQ(table, expected);
}

TEST(MemoryProbe, ResidentMemoryFollowsTheProcess) {
  const MemoryProbe probe;
  const std::uint64_t before = probe.resident_bytes().value();
  const std::vector<char> memory(64 << 20, 1);
  EXPECT_GT(probe.resident_bytes().value(), before + (50 << 20));
  EXPECT_EQ(memory.back(), 1);
}

TEST(MemoryProbe, ACgroupIsAPositiveNumberOrAbsent) { EXPECT_GT(MemoryProbe().cgroup_bytes().value_or(1), 0u); }

TEST(MemoryProbe, KillsForMemoryAreCountedWhereThereIsACgroup) {
  const MemoryProbe probe;
  const auto kills = probe.cgroup_oom_kills();
  EXPECT_TRUE(probe.cgroup_bytes() || !kills);
  EXPECT_GE(probe.cgroup_oom_kills().value_or(0), kills.value_or(0));
}

TEST(ControlFile, SaysTheLevelOnceForEachChange) {
  const ScratchDirectory scratch;
  ControlFile control(scratch.path());
  std::string complaint;
  EXPECT_EQ(control.poll(complaint), std::nullopt);
  std::ofstream(scratch / "control") << "level = \"off\"\n";
  EXPECT_EQ(control.poll(complaint), Level::kOff);
  EXPECT_EQ(control.poll(complaint), std::nullopt);
  std::ofstream(scratch / "control") << "level = \"diagnose\"\n";
  EXPECT_EQ(control.poll(complaint), Level::kDiagnose);
  EXPECT_EQ(complaint, "");
}

TEST(ControlFile, ComplainsOfWhatItDoesNotUnderstand) {
  const ScratchDirectory scratch;
  ControlFile control(scratch.path());
  for (const auto& [text, word] : std::vector<std::pair<std::string, std::string>>{
           {"level = \"loud\"\n", "not loud"}, {"colour = 1\n", "colour"}, {"level = \n", "line 1"}}) {
    std::ofstream(scratch / "control") << text;
    std::string complaint;
    EXPECT_EQ(control.poll(complaint), std::nullopt);
    EXPECT_NE(complaint.find(word), std::string::npos) << complaint;
  }
}

TEST(ControlFile, ADirectoryOfThatNameIsNoControlFile) {
  const ScratchDirectory scratch;
  std::filesystem::create_directory(scratch / "control");
  std::string complaint;
  EXPECT_EQ(ControlFile(scratch.path()).poll(complaint), std::nullopt);
  EXPECT_EQ(complaint, "");
}

TEST(Wakeup, WaitsItsTimeUnlessItIsSet) {
  Wakeup wakeup;
  const std::uint64_t begin = monotonic_ns();
  EXPECT_FALSE(wakeup.wait(20'000'000));
  EXPECT_GE(monotonic_ns() - begin, 20'000'000u);
  std::thread setter([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    wakeup.set();
  });
  EXPECT_TRUE(wakeup.wait(60'000'000'000));
  EXPECT_TRUE(wakeup.wait(0));
  setter.join();
}

TEST(Clock, IsTheMonotonicOne) {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  const auto reference = static_cast<std::uint64_t>(t.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(t.tv_nsec);
  EXPECT_GE(monotonic_ns(), reference);
  EXPECT_LT(monotonic_ns() - reference, 10'000'000'000u);
  EXPECT_GT(realtime_ns(), 1'600'000'000'000'000'000u);
}

TEST(HookTable, ChangesAreNewStatesAndFirstFirings) {
  const ScratchDirectory scratch;
  const int fd = open((scratch / "ring").c_str(), O_RDWR | O_CREAT, 0644);
  RingMap rings;
  ASSERT_EQ(rings.create(fd, Settings{}, Identity{}, "trace.plt"), std::nullopt);
  HookTable table;
  EXPECT_FALSE(table.changed(rings));
  table.set(2, "NCCL C API", false, "linked statically");
  EXPECT_TRUE(table.changed(rings));
  EXPECT_FALSE(table.changed(rings));
  rings.header().hook_fired[5].store(3);
  EXPECT_TRUE(table.changed(rings));
  rings.header().hook_fired[5].store(4);
  EXPECT_FALSE(table.changed(rings));
  table.set(1000, "beyond the table", true, "");

  const auto rows = table.rows(rings);
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].name, "NCCL C API");
  EXPECT_FALSE(rows[0].active);
  EXPECT_EQ(rows[0].detail, "linked statically");
  EXPECT_EQ(rows[1].name, "hook 5");
  EXPECT_EQ(rows[1].fired, 4u);
  rings.unmap();
  close(fd);
}

}  // namespace
}  // namespace plumbline::recorder
