#include "reader/frame_decoder.hpp"

#include <gtest/gtest.h>

#include "recorder/messages.hpp"

namespace plumbline::reader {
namespace {

using Values = std::vector<std::uint64_t>;
using Kinds8 = std::vector<std::uint8_t>;
using Taken = DecodedFrame::Taken;

constexpr auto kAlloc8 = static_cast<std::uint8_t>(Kind::kAlloc);
constexpr auto kFree8 = static_cast<std::uint8_t>(Kind::kFree);

// An allocations message, of which parts can be wrong.
struct AllocationsMessage {
  std::uint32_t count = 3;
  Kinds8 kinds = {kAlloc8, kFree8, kAlloc8};
  Values times = {100, 110, 120};
  Values addresses = {1, 1, 2};
  Values sizes = {64, 32};

  Taken add_to(DecodedFrame& frame, const Query& query = {}, bool times_of_all = true) const {
    recorder::MessageBuilder builder;
    recorder::MessageBuffer buffer;
    const auto kind = builder.fbb().CreateVector(kinds);
    const auto tag = builder.column(Values(count < 1000 ? count : 1, 0));
    const auto time = builder.column(times);
    const auto address = builder.column(addresses);
    const auto size = builder.column(sizes);
    builder.finish(trace::CreateAllocations(builder.fbb(), 4, count, kind, tag, time, address, size), buffer);
    return frame.add(*trace::GetSizePrefixedMessage(buffer.data()), buffer.size(), query, times_of_all, {77, 2, false});
  }
};

TEST(FrameDecoderTest, SizesAreGivenToAllocationsOnly) {
  DecodedFrame frame;
  ASSERT_EQ(AllocationsMessage{}.add_to(frame), Taken::kBatch);
  const AllocationBatch& batch = frame.batches().allocations.at(0);
  EXPECT_EQ(batch.ring, 4u);
  EXPECT_EQ(batch.place.frame_offset, 77u);
  EXPECT_EQ(batch.place.message, 2u);
  EXPECT_EQ(Values(batch.size.begin(), batch.size.end()), (Values{64, 0, 32}));
  EXPECT_EQ(Values(batch.time_ns.begin(), batch.time_ns.end()), (Values{100, 110, 120}));
  EXPECT_EQ(frame.span().first_ns, 100u);
  EXPECT_EQ(frame.span().last_ns, 120u);
  EXPECT_EQ(frame.rows(), 3u);
}

TEST(FrameDecoderTest, OnlyFrees) {
  DecodedFrame frame;
  AllocationsMessage message;
  message.kinds = {kFree8, kFree8, kFree8};
  message.sizes = {};
  ASSERT_EQ(message.add_to(frame), Taken::kBatch);
  EXPECT_EQ(frame.batches().allocations[0].size[2], 0u);
}

TEST(FrameDecoderTest, ColumnsThatDoNotFitAreRefused) {
  DecodedFrame frame;
  AllocationsMessage message;
  message.kinds.pop_back();
  EXPECT_EQ(message.add_to(frame), Taken::kMalformed);
  message = {};
  message.times = {1, 5};
  EXPECT_EQ(message.add_to(frame), Taken::kMalformed);
  message = {};
  message.sizes = {1, 2, 5};
  EXPECT_EQ(message.add_to(frame), Taken::kMalformed);
  EXPECT_TRUE(frame.batches().empty());
}

TEST(FrameDecoderTest, ACountWithoutItsBytesIsRefused) {
  DecodedFrame frame;
  AllocationsMessage message;
  message.count = 4'000'000'000;
  message.times = {1};
  EXPECT_EQ(message.add_to(frame), Taken::kMalformed);
}

TEST(FrameDecoderTest, UnwantedKindsAndTimesAreLeftOut) {
  DecodedFrame frame;
  EXPECT_EQ(AllocationsMessage{}.add_to(frame, {.kinds = kSamples}), Taken::kNotWanted);
  EXPECT_EQ(frame.span().first_ns, 100u) << "their times are noted all the same";
  EXPECT_EQ(AllocationsMessage{}.add_to(frame, {.from_ns = 121}), Taken::kNotWanted);
  EXPECT_EQ(AllocationsMessage{}.add_to(frame, {.to_ns = 99}), Taken::kNotWanted);
  EXPECT_EQ(AllocationsMessage{}.add_to(frame, {.from_ns = 105, .to_ns = 106}), Taken::kBatch) << "a batch is not cut";
  EXPECT_EQ(frame.kinds(), kAllocations);
  DecodedFrame fresh;
  EXPECT_EQ(AllocationsMessage{}.add_to(fresh, {.kinds = kSamples}, false), Taken::kNotWanted);
  EXPECT_TRUE(fresh.span().empty());
}

TEST(FrameDecoderTest, ClearingForgetsTheFrame) {
  DecodedFrame frame;
  AllocationsMessage{}.add_to(frame);
  frame.clear();
  EXPECT_TRUE(frame.batches().empty());
  EXPECT_TRUE(frame.span().empty());
  EXPECT_EQ(frame.kinds(), 0u);
}

TEST(FrameDecoderTest, DefinitionsAreNotEvents) {
  recorder::MessageBuilder builder;
  recorder::MessageBuffer buffer;
  builder.finish(trace::CreateExit(builder.fbb(), 1, 1), buffer);
  DecodedFrame frame;
  EXPECT_EQ(frame.add(*trace::GetSizePrefixedMessage(buffer.data()), buffer.size(), {}, true, {}), Taken::kNotEvents);
}

TEST(BatchSetTest, GenerationsGoToTheBatchesOfTheirRing) {
  BatchSet set;
  set.samples.resize(2);
  set.samples[0].ring = 1;
  set.samples[1].ring = 2;
  set.set_generation(2, 9);
  EXPECT_EQ(set.samples[0].generation, 0u);
  EXPECT_EQ(set.samples[1].generation, 9u);
}

TEST(TimeSpanTest, OverlapsIncludeBothEnds) {
  const Values times = {20, 10, 15};
  const TimeSpan span = span_of(times);
  EXPECT_EQ(span.first_ns, 10u);
  EXPECT_EQ(span.last_ns, 20u);
  EXPECT_TRUE(span.overlaps({.from_ns = 20}));
  EXPECT_TRUE(span.overlaps({.to_ns = 10}));
  EXPECT_FALSE(span.overlaps({.from_ns = 21}));
  EXPECT_FALSE(TimeSpan{}.overlaps({}));
}

}  // namespace
}  // namespace plumbline::reader
