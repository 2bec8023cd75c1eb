#include "recorder/ring_map.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <set>
#include <thread>
#include <vector>

#include "recorder/testing/child.hpp"
#include "recorder/testing/records.hpp"

namespace plumbline::recorder {
namespace {

using testing::ScratchDirectory;

class RingMapTest : public ::testing::Test {
 protected:
  RingMap& create(std::uint64_t ring_bytes, std::uint64_t memory_bytes) {
    Settings settings;
    settings.ring_bytes = ring_bytes;
    settings.memory_bytes = memory_bytes;
    fd_ = open((scratch_ / "ring").c_str(), O_RDWR | O_CREAT | O_EXCL, 0644);
    Identity identity;
    identity.pid = 5;
    identity.rank = 2;
    identity.attempt = 1;
    identity.boot_id = "boot";
    EXPECT_EQ(map_.create(fd_, settings, identity, "trace.plt"), std::nullopt);
    map_.take_descriptor_from([](void* fd) { return *static_cast<int*>(fd); }, &fd_);
    return map_;
  }
  void TearDown() override {
    map_.unmap();
    if (fd_ >= 0) close(fd_);
  }

  ScratchDirectory scratch_;
  RingMap map_;
  int fd_ = -1;
};

TEST_F(RingMapTest, OnlyWhatIsTouchedTakesMemory) {
  constexpr std::size_t kPage = 4096;
  RingMap& map = create(4 << 20, 64 << 20);
  RingHeader* const ring = map.claim(RingMap::Which::kAny);
  ASSERT_NE(ring, nullptr);
  *reinterpret_cast<volatile char*>(reinterpret_cast<std::byte*>(ring) + ring->slots_distance) = 1;
  std::vector<unsigned char> pages((32 << 20) / kPage);
  ASSERT_EQ(mincore(&map.header(), pages.size() * kPage, pages.data()), 0);
  const auto resident = std::count_if(pages.begin(), pages.end(), [](unsigned char page) { return (page & 1) != 0; });
  EXPECT_GE(resident, 1);
  EXPECT_LE(resident * kPage, 1U << 20);
}

TEST_F(RingMapTest, TheFileDescribesItself) {
  const RingFileHeader& header = create(64 << 10, 1 << 20).header();
  EXPECT_EQ(header.magic, kRingMagic);
  EXPECT_EQ(header.version, kRingVersion);
  EXPECT_EQ(header.pid, 5u);
  EXPECT_EQ(header.rank, 2);
  EXPECT_EQ(header.attempt, 1);
  EXPECT_STREQ(header.boot_id, "boot");
  EXPECT_STREQ(header.trace_name, "trace.plt");
  EXPECT_NE(header.start_monotonic_ns, 0u);
  Identity identity;
  identity.rank = 9;
  map_.name_trace("rank9.plt", identity);
  EXPECT_EQ(header.rank, 9);
  EXPECT_STREQ(header.trace_name, "rank9.plt");
}

TEST_F(RingMapTest, RingsFillTheMemoryAndDoNotOverlap) {
  RingMap& map = create(64 << 10, 1 << 20);
  struct stat status {};
  fstat(fd_, &status);
  EXPECT_LE(status.st_size, (1 << 20) + (64 << 10));
  std::uint64_t end = kRingFileHeaderBytes + map.count() * kRingHeaderBytes;
  for (std::uint32_t i = 0; i < map.count(); ++i) {
    const RingHeader& ring = map.ring(i);
    EXPECT_EQ(ring.capacity, i < 8 ? (64u << 10) / kSlotBytes : (8u << 10) / kSlotBytes) << i;
    EXPECT_GE(ring.data_offset, end + sizeof(HookCounters));
    EXPECT_EQ(ring.data_offset % kSlotBytes, 0u);
    end = ring.data_offset + ring.capacity * kSlotBytes;
  }
  EXPECT_EQ(end, static_cast<std::uint64_t>(status.st_size));
  EXPECT_GT(map.count(), 12u);
}

TEST_F(RingMapTest, DiskIsTakenOnlyForRingsInUse) {
  RingMap& map = create(1 << 20, 64 << 20);
  struct stat status {};
  fstat(fd_, &status);
  EXPECT_LT(status.st_blocks * 512, 256 << 10);
  ASSERT_NE(map.claim(RingMap::Which::kAny), nullptr);
  fstat(fd_, &status);
  EXPECT_GE(status.st_blocks * 512, 1 << 20);
  EXPECT_LT(status.st_blocks * 512, 2 << 20);
}

TEST_F(RingMapTest, TinySettingsStillGiveARingAndOneForTheWriter) {
  RingMap& map = create(1 << 10, 1 << 10);
  EXPECT_EQ(map.count(), 2u);
  EXPECT_NE(map.claim(RingMap::Which::kAny), nullptr);
  EXPECT_NE(map.claim(RingMap::Which::kSmall), nullptr);
  EXPECT_EQ(map.claim(RingMap::Which::kAny), nullptr);
  EXPECT_EQ(map.allocation_failed(), 0);
}

TEST_F(RingMapTest, ARingKnowsItsThread) {
  RingMap& map = create(64 << 10, 1 << 20);
  std::thread([&] {
    pthread_setname_np(pthread_self(), "some-thread");
    RingHeader* ring = map.claim(RingMap::Which::kAny);
    ASSERT_NE(ring, nullptr);
    EXPECT_STREQ(ring->thread_name, "some-thread");
    EXPECT_EQ(ring->tid, static_cast<std::uint32_t>(gettid()));
    EXPECT_EQ(ring->generation, 1u);
    EXPECT_EQ(map.index_of(*ring), 0u);
  }).join();
}

TEST_F(RingMapTest, ARingIsUsedAgainOnlyWhenItIsDrained) {
  RingMap& map = create(1 << 10, 1 << 10);
  RingHeader* ring = map.claim(RingMap::Which::kAny);
  ASSERT_TRUE(write_record(*ring, testing::alloc_record(1, 1, 1).header));
  RingMap::reclaim(*ring);  // its thread still lives
  RingMap::release(*ring);
  RingMap::reclaim(*ring);  // not drained
  EXPECT_NE(map.claim(RingMap::Which::kAny), ring);
  ring->tail.store(ring->head.load());
  RingMap::reclaim(*ring);
  EXPECT_EQ(map.claim(RingMap::Which::kAny), ring);
  EXPECT_EQ(ring->generation, 2u);
  EXPECT_EQ(ring->head.load(), 1u);
}

TEST_F(RingMapTest, ThreadsClaimDifferentRings) {
  RingMap& map = create(16 << 10, 1 << 20);
  std::array<RingHeader*, 16> rings{};
  std::vector<std::thread> threads;
  for (auto& ring : rings) {
    threads.emplace_back([&] { ring = map.claim(RingMap::Which::kAny); });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(std::set<RingHeader*>(rings.begin(), rings.end()).size(), 16u);
}

TEST_F(RingMapTest, HookCountsAreSummedOverRings) {
  RingMap& map = create(16 << 10, 1 << 20);
  EXPECT_EQ(map.hook_total(3), 0u);
  hook_counters(*map.claim(RingMap::Which::kAny)).fired[3].store(4);
  hook_counters(*map.claim(RingMap::Which::kAny)).fired[3].store(5);
  map.header().hook_fired[3].store(1);
  EXPECT_EQ(map.hook_total(3), 10u);
  EXPECT_EQ(map.hook_total(2), 0u);
}

TEST_F(RingMapTest, ADescriptorThatIsLostLeavesNoRoomForAnotherRing) {
  RingMap& map = create(16 << 10, 1 << 20);
  close(fd_);
  fd_ = -1;
  EXPECT_EQ(map.claim(RingMap::Which::kAny), nullptr);
  EXPECT_EQ(map.allocation_failed(), EBADF);
}

TEST_F(RingMapTest, TellsThatRecordingStoppedAndHowTheProcessEnded) {
  RingMap& map = create(16 << 10, 1 << 20);
  EXPECT_FALSE(map.stopped());
  map.note_stop("the disk is full");
  EXPECT_TRUE(map.stopped());
  EXPECT_STREQ(map.header().stop_reason, "the disk is full");
  EXPECT_EQ(map.header().exit_ns, 0u);
  map.note_exit(3);
  EXPECT_GE(map.header().exit_ns, map.header().stopped_ns);
  EXPECT_EQ(map.header().exit_status, 3);
  map.note_stop(std::string(1000, 'x'));
  EXPECT_EQ(std::string(map.header().stop_reason).size(), sizeof(RingFileHeader::stop_reason) - 1);
}

TEST(RingMap, ALimitOnFileSizesIsAnErrorAndNotASignal) {
  const ScratchDirectory scratch;
  const int status = testing::run_in_child([&] {
    const rlimit limit{1 << 20, 1 << 20};
    setrlimit(RLIMIT_FSIZE, &limit);
    const int fd = open((scratch / "ring").c_str(), O_RDWR | O_CREAT, 0644);
    RingMap map;
    const auto error = map.create(fd, Settings{}, Identity{}, "trace.plt");
    if (!error || error->find("PLUMBLINE_MEMORY_MB") == std::string::npos) std::_Exit(1);
  });
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace plumbline::recorder
