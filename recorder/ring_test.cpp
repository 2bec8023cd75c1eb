#include "recorder/ring.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "recorder/testing/records.hpp"

namespace plumbline::recorder {
namespace {

using testing::alloc_record;
using testing::collective_record;

// A ring in plain memory.
struct MemoryRing {
  explicit MemoryRing(std::uint64_t capacity, std::uint64_t chunk = 0)
      : memory(sizeof(RingHeader) + sizeof(HookCounters) + capacity * kSlotBytes + 64) {
    void* start = memory.data();
    std::size_t space = memory.size();
    header = new (std::align(64, sizeof(RingHeader), start, space)) RingHeader{};
    header->capacity = capacity;
    header->chunk = chunk != 0 ? chunk : capacity;
    header->slots_distance = sizeof(RingHeader) + sizeof(HookCounters);
  }
  std::vector<const RecordHeader*> take() {
    std::vector<const RecordHeader*> records;
    RingReader reader(*header, header->tail.load(), header->head.load());
    while (const RecordHeader* record = reader.next()) records.push_back(record);
    damaged = reader.damaged();
    return records;
  }
  std::vector<std::byte> memory;
  RingHeader* header;
  bool damaged = false;
};

TEST(RecordBytes, OneSlotKindsFillTheirSlot) {
  EXPECT_EQ(struct_bytes(Kind::kAlloc), kSlotBytes);
  EXPECT_EQ(struct_bytes(Kind::kCollectiveEnd), kSlotBytes);
  EXPECT_EQ(struct_bytes(Kind::kRangeBegin), kSlotBytes);
  EXPECT_EQ(struct_bytes(Kind::kSample), kSlotBytes);
}

TEST(RecordBytes, TextCounts) {
  const TextRecord text{{0, Kind::kText, slots_of<TextRecord>(5), 0, 5}, 1, 0};
  EXPECT_EQ(record_bytes(text.header), sizeof(TextRecord) + 5);
  EXPECT_TRUE(well_formed(text.header));
}

TEST(RecordBytes, UnknownKindsAndTooFewSlotsAreNotWellFormed) {
  RecordHeader header{0, static_cast<Kind>(99), 1, 0, 0};
  EXPECT_FALSE(well_formed(header));
  header.kind = Kind::kCollective;
  EXPECT_FALSE(well_formed(header));
  header.slots = slots_of<CollectiveRecord>();
  EXPECT_TRUE(well_formed(header));
}

TEST(Ring, GivesBackWhatWasWritten) {
  MemoryRing ring(32);
  ASSERT_TRUE(write_record(*ring.header, alloc_record(7, 0x1000, 64).header));
  ASSERT_TRUE(write_record(*ring.header, collective_record(8, 3).header));
  const auto records = ring.take();
  ASSERT_EQ(records.size(), 2u);
  EXPECT_EQ(reinterpret_cast<const AllocRecord*>(records[0])->address, 0x1000u);
  EXPECT_EQ(reinterpret_cast<const CollectiveRecord*>(records[1])->id, 3u);
  EXPECT_EQ(ring.header->head.load(), 5u);
}

TEST(Ring, RefusesWhenFullAndRecoversWhenDrained) {
  MemoryRing ring(32);
  for (int i = 0; i < 32; ++i) ASSERT_TRUE(write_record(*ring.header, alloc_record(1, 1, 1).header));
  EXPECT_FALSE(write_record(*ring.header, alloc_record(1, 1, 1).header));
  ring.header->tail.store(1);
  EXPECT_TRUE(write_record(*ring.header, alloc_record(1, 1, 1).header));
  EXPECT_FALSE(write_record(*ring.header, alloc_record(1, 1, 1).header));
}

TEST(Ring, ARecordNeverWraps) {
  MemoryRing ring(32);
  for (int i = 0; i < 30; ++i) ASSERT_TRUE(write_record(*ring.header, alloc_record(1, 1, 1).header));
  ring.header->tail.store(30);
  ASSERT_TRUE(write_record(*ring.header, collective_record(9, 42).header));  // 2 slots are left before the wrap
  EXPECT_EQ(ring.header->head.load(), 36u);
  const auto records = ring.take();
  ASSERT_EQ(records.size(), 1u);
  EXPECT_EQ(reinterpret_cast<const CollectiveRecord*>(records[0])->id, 42u);
}

TEST(Ring, TheFillBeforeAWrapNeedsRoomToo) {
  MemoryRing ring(32);
  for (int i = 0; i < 30; ++i) ASSERT_TRUE(write_record(*ring.header, alloc_record(1, 1, 1).header));
  ring.header->tail.store(3);  // 5 slots free: 2 of fill and 3, one too few for the record
  EXPECT_FALSE(write_record(*ring.header, collective_record(9, 42).header));
  ring.header->tail.store(4);
  EXPECT_TRUE(write_record(*ring.header, collective_record(9, 42).header));
}

TEST(Ring, CountsOnForManyRounds) {
  MemoryRing ring(32);
  std::uint64_t written = 0;
  std::uint64_t read = 0;
  for (int round = 0; round < 1000; ++round) {
    for (int i = 0; i < round % 5 + 1; ++i) {
      if (i % 2 == 0) {
        ASSERT_TRUE(write_record(*ring.header, collective_record(1, written).header));
      } else {
        ASSERT_TRUE(write_record(*ring.header, alloc_record(1, written, 1).header));
      }
      ++written;
    }
    for (const RecordHeader* record : ring.take()) {
      std::uint64_t number = 0;
      std::memcpy(&number, record + 1, sizeof(number));
      ASSERT_EQ(number, read++);
    }
    ring.header->tail.store(ring.header->head.load());
  }
  EXPECT_EQ(read, written);
}

constexpr std::uint64_t kChunk = 16;
constexpr std::uint64_t kChunks = 4;

std::byte* place(const MemoryRing& ring, std::uint64_t chunk) {
  return slots_of_ring(*ring.header) + chunk * kChunk * kSlotBytes;
}

TEST(RingOfChunks, StaysInTwoChunksWhileItIsDrained) {
  MemoryRing ring(kChunk * kChunks, kChunk);
  std::uint64_t read = 0;
  for (std::uint64_t written = 0; written < 1000; ++written) {
    ASSERT_TRUE(write_record(*ring.header, alloc_record(1, written, 1).header));
    if (written % 10 != 9) continue;
    for (const RecordHeader* record : ring.take()) {
      EXPECT_EQ(reinterpret_cast<const AllocRecord*>(record)->address, read++);
      EXPECT_LT(reinterpret_cast<const std::byte*>(record), place(ring, 2));
    }
    ring.header->tail.store(ring.header->head.load());
  }
  EXPECT_EQ(read, 1000u);
}

TEST(RingOfChunks, TakesAllOfThemWhenItIsNot) {
  MemoryRing ring(kChunk * kChunks, kChunk);
  std::uint64_t written = 0;
  while (write_record(*ring.header, alloc_record(1, written, 1).header)) ++written;
  EXPECT_EQ(written, kChunk * kChunks);
  ring.header->tail.store(kChunk - 1);  // the first chunk still holds an unread one
  EXPECT_FALSE(write_record(*ring.header, alloc_record(1, written, 1).header));
  ring.header->tail.store(kChunk);
  EXPECT_TRUE(write_record(*ring.header, alloc_record(1, written, 1).header));
  std::uint64_t read = kChunk;
  for (const RecordHeader* record : ring.take())
    EXPECT_EQ(reinterpret_cast<const AllocRecord*>(record)->address, read++);
  EXPECT_EQ(read, written + 1);
  EXPECT_FALSE(ring.damaged);
}

TEST(RingOfChunks, NothingIsWrittenOverWhateverTheReaderLeaves) {
  MemoryRing ring(kChunk * kChunks, kChunk);
  std::uint64_t written = 0;
  std::uint64_t read = 0;
  std::uint64_t refused = 0;
  for (std::uint64_t round = 0; round < 5000; ++round) {
    for (std::uint64_t i = 0; i < round * 7 % 40; ++i) {
      const bool long_one = (round + i) % 3 == 0;
      const bool taken = long_one ? write_record(*ring.header, collective_record(1, written).header)
                                  : write_record(*ring.header, alloc_record(1, written, 1).header);
      (taken ? written : refused) += 1;
    }
    const auto records = ring.take();
    ASSERT_FALSE(ring.damaged);
    // The reader takes a part, as the writer of a trace does in a frame.
    RingReader reader(*ring.header, ring.header->tail.load(), ring.header->head.load());
    for (std::uint64_t i = 0; i < std::min<std::uint64_t>(records.size(), round * 5 % 29); ++i) {
      std::uint64_t number = 0;
      std::memcpy(&number, reader.next() + 1, sizeof(number));
      ASSERT_EQ(number, read++);
    }
    ring.header->tail.store(reader.position());
  }
  EXPECT_GT(refused, 0u);
  EXPECT_GT(read, 10'000u);
}

TEST(RingOfChunks, APlaceThatWasWrittenOverLeadsNowhereElse) {
  MemoryRing ring(kChunk * kChunks, kChunk);
  ASSERT_TRUE(write_record(*ring.header, alloc_record(1, 1, 1).header));
  ring.header->places[0].store(0xff);
  EXPECT_TRUE(ring.take().empty());
  EXPECT_TRUE(ring.damaged);
}

TEST(Ring, ReaderStopsAtDamage) {
  MemoryRing ring(32);
  ASSERT_TRUE(write_record(*ring.header, alloc_record(1, 1, 1).header));
  ASSERT_TRUE(write_record(*ring.header, alloc_record(2, 2, 2).header));
  auto* second = reinterpret_cast<RecordHeader*>(slots_of_ring(*ring.header) + kSlotBytes);
  for (const RecordHeader& damage :
       {RecordHeader{}, RecordHeader{2, Kind::kAlloc, 200, 0, 0}, RecordHeader{2, static_cast<Kind>(1234), 1, 0, 0},
        RecordHeader{2, Kind::kText, 1, 0, 5000}}) {
    *second = damage;
    EXPECT_EQ(ring.take().size(), 1u);
    EXPECT_TRUE(ring.damaged);
  }
}

}  // namespace
}  // namespace plumbline::recorder
