#include "recorder/drain.hpp"

#include <gtest/gtest.h>
#include <pthread.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>

#include "recorder/testing/child.hpp"
#include "recorder/testing/records.hpp"
#include "recorder/testing/trace_contents.hpp"

namespace plumbline::recorder {
namespace {

using testing::alloc_record;
using testing::read_trace;

class DrainTest : public ::testing::Test {
 protected:
  void SetUp() override {
    Settings settings;
    settings.ring_bytes = 16 << 10;
    settings.memory_bytes = 1 << 20;
    ASSERT_EQ(files_.create(scratch_.path(), Identity{}), std::nullopt);
    ASSERT_EQ(rings_.create(files_.ring_fd(), settings, Identity{}, files_.trace_name()), std::nullopt);
    trace_.emplace(files_, 1 << 30);
    drain_.emplace(rings_, *trace_);
  }
  void TearDown() override {
    rings_.unmap();
    files_.close();
  }

  void write_text(RingHeader& ring, std::uint64_t id, std::string_view text) {
    struct {
      TextRecord record;
      char text[64];
    } message{};
    message.record = {
        {1, Kind::kText, slots_of<TextRecord>(text.size()), 0, static_cast<std::uint32_t>(text.size())}, id, 0};
    std::memcpy(message.text, text.data(), text.size());
    ASSERT_TRUE(write_record(ring, message.record.header));
  }

  testing::ScratchDirectory scratch_;
  RunFiles files_;
  RingMap rings_;
  std::optional<TraceWriter> trace_;
  std::optional<Drain> drain_;
};

TEST_F(DrainTest, MovesEverythingAndGivesTheRoomBack) {
  RingHeader* ring = rings_.claim(RingMap::Which::kAny);
  RingHeader* other = rings_.claim(RingMap::Which::kAny);
  for (std::uint64_t i = 1; i <= 100; ++i) ASSERT_TRUE(write_record(*ring, alloc_record(i, i, 1).header));
  ASSERT_TRUE(write_record(*other, testing::collective_record(5, 1).header));
  EXPECT_NEAR(drain_->fullest(), 100.0 / 512, 0.01);
  EXPECT_NEAR(drain_->fullest(200), 0.5, 0.01);
  ASSERT_EQ(drain_->pass(), std::nullopt);
  EXPECT_EQ(drain_->fullest(), 0);
  EXPECT_EQ(ring->tail.load(), 100u);
  EXPECT_EQ(other->tail.load(), 4u);
  const auto contents = read_trace(files_.trace_path());
  EXPECT_EQ(contents.events.size(), 101u);
  EXPECT_EQ(contents.heads.at(0), 100u);
  EXPECT_EQ(contents.heads.at(1), 4u);
  EXPECT_EQ(contents.threads.size(), 2u);
  EXPECT_EQ(contents.frames, 2u);
}

TEST_F(DrainTest, APassWithNothingToSayWritesNothing) {
  ASSERT_EQ(drain_->pass(), std::nullopt);
  EXPECT_EQ(trace_->bytes(), 0u);
  EXPECT_FALSE(drain_->damaged());
}

TEST_F(DrainTest, DefinitionsComeFirstAndOnce) {
  RingHeader* ring = rings_.claim(RingMap::Which::kAny);
  ASSERT_TRUE(write_record(*ring, testing::range_record(Kind::kRangeBegin, 1, 77, 1).header));
  write_text(*ring, 77, "forward");
  ASSERT_EQ(drain_->pass(), std::nullopt);
  ASSERT_TRUE(write_record(*ring, testing::range_record(Kind::kRangeEnd, 2, 77, 1).header));
  ASSERT_EQ(drain_->pass(), std::nullopt);
  const auto contents = read_trace(files_.trace_path());
  EXPECT_FALSE(contents.undefined_use);
  EXPECT_EQ(contents.text_messages, 1u);
  EXPECT_EQ(contents.events.size(), 2u);
}

TEST_F(DrainTest, OwnersOfARingAreTold) {
  RingHeader* ring = rings_.claim(RingMap::Which::kAny);
  ASSERT_TRUE(write_record(*ring, alloc_record(1, 1, 1).header));
  RingMap::release(*ring);
  ASSERT_EQ(drain_->pass(), std::nullopt);
  pthread_setname_np(pthread_self(), "second");
  ASSERT_EQ(rings_.claim(RingMap::Which::kAny), ring);
  ASSERT_TRUE(write_record(*ring, alloc_record(2, 2, 2).header));
  ASSERT_EQ(drain_->pass(), std::nullopt);
  EXPECT_EQ(read_trace(files_.trace_path()).threads.at(0), "second");
}

TEST_F(DrainTest, RingsOfEndedThreadsPressForAFlush) {
  for (std::uint32_t i = 0; i < rings_.count() / 2; ++i) {
    RingHeader* ring = rings_.claim(RingMap::Which::kAny);
    ASSERT_TRUE(write_record(*ring, alloc_record(1, 1, 1).header));
    RingMap::release(*ring);
  }
  EXPECT_GE(drain_->fullest(), 0.4);
}

TEST_F(DrainTest, ADamagedRingIsSkippedAndTheOthersAreNot) {
  RingHeader* damaged = rings_.claim(RingMap::Which::kAny);
  RingHeader* whole = rings_.claim(RingMap::Which::kAny);
  for (std::uint64_t i = 1; i <= 3; ++i) {
    ASSERT_TRUE(write_record(*damaged, alloc_record(i, i, 1).header));
    ASSERT_TRUE(write_record(*whole, alloc_record(i, i, 1).header));
  }
  std::memset(slots_of_ring(*damaged) + kSlotBytes, 0xff, kSlotBytes);
  ASSERT_EQ(drain_->pass(), std::nullopt);
  EXPECT_TRUE(drain_->damaged());
  EXPECT_EQ(read_trace(files_.trace_path()).events.size(), 4u);
  ASSERT_TRUE(write_record(*damaged, alloc_record(9, 9, 1).header));
  ASSERT_EQ(drain_->pass(), std::nullopt);
  EXPECT_EQ(read_trace(files_.trace_path()).events.size(), 5u);
}

TEST_F(DrainTest, TailsStayWhereTheyAreWhenTheTraceCannotBeWritten) {
  RingHeader* ring = rings_.claim(RingMap::Which::kAny);
  ASSERT_TRUE(write_record(*ring, alloc_record(1, 1, 1).header));
  std::filesystem::remove_all(scratch_.path());
  close(files_.trace_fd());
  EXPECT_NE(drain_->pass(), std::nullopt);
  EXPECT_EQ(ring->tail.load(), 0u);
}

}  // namespace
}  // namespace plumbline::recorder
