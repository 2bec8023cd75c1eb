#include "recorder/recording.hpp"

#include <gtest/gtest.h>

#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "recorder/ring.hpp"
#include "recorder/testing/child.hpp"
#include "recorder/testing/records.hpp"

namespace plumbline::recorder {
namespace {

using testing::run_in_child;
using testing::ScratchDirectory;

constexpr std::uint64_t kLong = 20'000'000'000;

Wakeup& held() {
  static Wakeup made;
  return made;
}

Wakeup& released() {
  static Wakeup made;
  return made;
}

// Keeps the writer, as a disk does that takes long.
void hold_writer(Level) {
  held().set();
  released().wait(kLong);
}

// A recording whose writer is held. It is never destroyed, as in a job.
Recording& slow_recording(const std::string& directory, bool promoted) {
  static HookTable hooks;
  Settings settings;
  settings.ring_bytes = 256 << 10;
  settings.memory_bytes = 1 << 20;
  auto* recording = new Recording(settings, hooks, {hold_writer, [] {}, nullptr});
  if (recording->open(directory)) std::_Exit(90);
  if (promoted) recording->promote(0);
  std::ofstream(directory + "/control") << "level = \"diagnose\"\n";
  if (!held().wait(kLong)) std::_Exit(91);
  return *recording;
}

TEST(RecordingTest, AWriterThatIsLateLeavesTheExitInTheRing) {
  const ScratchDirectory scratch;
  const int status = run_in_child([&] {
    Recording& recording = slow_recording(scratch / "run", true);
    if (recording.close({3, 0, {}, {}}, 1'000'000)) std::_Exit(1);
    const RingFileHeader& header = recording.rings().header();
    if (header.exit_ns == 0 || header.exit_status != 3 || header.stopped_ns != 0) std::_Exit(2);
    // It comes to its end all the same, if the process lives on.
    released().set();
    if (!recording.close({3, 0, {}, {}}, kLong)) std::_Exit(3);
    if (header.clean_end == 0) std::_Exit(4);
  });
  EXPECT_EQ(status, 0);
}

TEST(RecordingTest, AProcessThatDidNotTrainLeavesNothing) {
  const ScratchDirectory scratch;
  const int status = run_in_child([&] {
    Recording& recording = slow_recording(scratch / "run", false);
    if (recording.close({3, 0, {}, {}}, 1'000'000)) std::_Exit(1);
    if (recording.rings().header().exit_ns != 0) std::_Exit(2);
    released().set();
    if (!recording.close({0, 0, {}, {}}, kLong)) std::_Exit(3);
  });
  EXPECT_EQ(status, 0);
  for (const auto& entry : std::filesystem::directory_iterator(scratch / "run"))
    EXPECT_EQ(entry.path().filename(), "control");
}

bool is_drained(const RingHeader& ring) {
  for (int i = 0; i < 20'000; ++i) {
    if (ring.tail.load() == ring.head.load()) return true;
    usleep(1000);
  }
  return false;
}

// Long before it is full, and long before its time: what a ring uses is to stay in the caches.
TEST(RecordingTest, ARingOfAHundredKilobytesIsDrained) {
  const ScratchDirectory scratch;
  const int status = run_in_child([&] {
    static HookTable hooks;
    Settings settings;
    settings.ring_bytes = 4 << 20;
    settings.flush_ms = 3'600'000;
    auto* recording = new Recording(settings, hooks, {[](Level) {}, [] {}, nullptr});
    if (recording->open(scratch / "run")) std::_Exit(1);
    recording->promote(0);
    RingHeader* ring = recording->rings().claim(RingMap::Which::kAny);
    // The first pass comes when the process is known to train.
    if (!write_record(*ring, testing::alloc_record(1, 1, 1).header) || !is_drained(*ring)) std::_Exit(2);
    for (std::uint64_t i = 0; i < 5000; ++i)
      if (!write_record(*ring, testing::alloc_record(i, i, 1).header)) std::_Exit(3);
    if (!is_drained(*ring)) std::_Exit(4);
    if (!recording->close({0, 0, {}, {}}, kLong)) std::_Exit(5);
  });
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace plumbline::recorder
