#include "recorder/batches.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cstring>

#include "recorder/testing/records.hpp"

namespace plumbline::recorder {
namespace {

using testing::alloc_record;
using testing::collective_record;
using testing::free_record;
using testing::mark_record;

// The messages of a buffer, which keeps them alive.
std::vector<const trace::Message*> messages_in(const MessageBuffer& buffer) {
  std::vector<const trace::Message*> messages;
  for (std::size_t at = 0; at < buffer.size();) {
    EXPECT_EQ(at % 8, 0u);
    std::uint32_t length = 0;
    std::memcpy(&length, &buffer[at], sizeof(length));
    flatbuffers::Verifier verifier(&buffer[at], length + 4);
    EXPECT_TRUE(trace::VerifySizePrefixedMessageBuffer(verifier));
    EXPECT_TRUE(trace::SizePrefixedMessageBufferHasIdentifier(&buffer[at]));
    messages.push_back(trace::GetSizePrefixedMessage(&buffer[at]));
    at += length + 4;
  }
  return messages;
}

std::vector<std::uint64_t> values(const trace::Column* column, std::size_t count) {
  std::vector<std::uint64_t> out(count);
  const auto* data = column->data();
  EXPECT_TRUE(decode_column({column->encoding(), column->base()},
                            data != nullptr ? std::span(data->data(), data->size()) : std::span<const std::uint8_t>(),
                            out));
  return out;
}

using Numbers = std::vector<std::uint64_t>;

TEST(Batches, AllocationsKeepTheirOrderAndSizesOnlyWhereThereAreSome) {
  Batches batches;
  EXPECT_TRUE(batches.empty());
  batches.begin_ring(4);
  batches.add(alloc_record(10, 0x100, 64).header);
  batches.add(free_record(11, 0x100).header);
  AllocRecord failed = alloc_record(12, 0, 1 << 30);
  failed.header.kind = Kind::kAllocFailed;
  failed.header.tag = alloc_tag(Source::kCudaMalloc, 2);
  batches.add(failed.header);
  EXPECT_FALSE(batches.empty());
  MessageBuffer buffer;
  const FrameSummary summary = batches.append_to(buffer);
  EXPECT_TRUE(batches.empty());
  EXPECT_EQ(summary.first_ns, 10u);
  EXPECT_EQ(summary.last_ns, 12u);
  EXPECT_EQ(summary.events[static_cast<std::size_t>(Kind::kAlloc)], 1u);
  EXPECT_EQ(summary.events[static_cast<std::size_t>(Kind::kAllocFailed)], 1u);

  const auto messages = messages_in(buffer);
  ASSERT_EQ(messages.size(), 1u);
  const auto* batch = messages[0]->body_as_Allocations();
  ASSERT_NE(batch, nullptr);
  EXPECT_EQ(batch->ring(), 4u);
  EXPECT_EQ(batch->count(), 3u);
  EXPECT_EQ(std::vector<std::uint8_t>(batch->kind()->begin(), batch->kind()->end()),
            (std::vector<std::uint8_t>{2, 3, 4}));
  EXPECT_EQ(values(batch->time_ns(), 3), (Numbers{10, 11, 12}));
  EXPECT_EQ(values(batch->address(), 3), (Numbers{0x100, 0x100, 0}));
  EXPECT_EQ(values(batch->size(), 2), (Numbers{64, 1 << 30}));
  EXPECT_EQ(values(batch->tag(), 3)[2], alloc_tag(Source::kCudaMalloc, 2));
}

TEST(Batches, EveryFieldOfACollective) {
  CollectiveRecord record = collective_record(5, 9, 77);
  record.seq = 4;
  record.count_in = 10;
  record.count_out = 20;
  record.peer = -1;
  record.tensor_tag = -7;
  record.parent = 8;
  record.buffer_in = 0xa;
  record.buffer_out = 0xb;
  record.stream = 0xc;
  record.tensors_in = 2;
  record.tensors_out = 3;
  record.splits_hash = 99;
  record.site = 0xd;
  Batches batches;
  batches.begin_ring(0);
  batches.add(record.header);
  MessageBuffer buffer;
  batches.append_to(buffer);
  const auto* batch = messages_in(buffer).at(0)->body_as_Collectives();
  ASSERT_NE(batch, nullptr);
  const auto only = [](const trace::Column* column) { return values(column, 1)[0]; };
  EXPECT_EQ(only(batch->time_ns()), 5u);
  EXPECT_EQ(only(batch->tag()), record.header.tag);
  EXPECT_EQ(only(batch->id()), 9u);
  EXPECT_EQ(only(batch->group()), 77u);
  EXPECT_EQ(only(batch->seq()), 4u);
  EXPECT_EQ(only(batch->count_in()), 10u);
  EXPECT_EQ(only(batch->count_out()), 20u);
  EXPECT_EQ(static_cast<std::int64_t>(only(batch->peer())), -1);
  EXPECT_EQ(static_cast<std::int64_t>(only(batch->tensor_tag())), -7);
  EXPECT_EQ(only(batch->parent()), 8u);
  EXPECT_EQ(only(batch->buffer_in()), 0xau);
  EXPECT_EQ(only(batch->buffer_out()), 1u);
  EXPECT_EQ(only(batch->stream()), 0xcu);
  EXPECT_EQ(only(batch->tensors_in()), 2u);
  EXPECT_EQ(only(batch->tensors_out()), 3u);
  EXPECT_EQ(only(batch->splits_hash()), 99u);
  EXPECT_EQ(only(batch->site()), 0xdu);
}

TEST(Batches, CoarseMarksAreRoundedUpAndNothingElseIs) {
  Batches batches(MarkTimes::kCoarse);
  batches.begin_ring(0);
  const CollectiveRecord record = collective_record(2047, 9, 77);
  batches.add(record.header);
  for (const std::uint64_t time_ns : {2048u, 2049u, 4096u}) {
    const CollectiveMarkRecord mark{{time_ns, Kind::kCollectiveEnd, slots_of<CollectiveMarkRecord>(), 0, 1}, 9, 0};
    batches.add(mark.header);
  }
  MessageBuffer buffer;
  batches.append_to(buffer);
  const auto messages = messages_in(buffer);
  EXPECT_EQ(values(messages.at(0)->body_as_Collectives()->time_ns(), 1), (Numbers{2047}));
  EXPECT_EQ(values(messages.at(1)->body_as_CollectiveMarks()->time_ns(), 3), (Numbers{2048, 3072, 4096}));
}

TEST(Batches, MarksWithOutcomeAndCode) {
  Batches batches;
  batches.begin_ring(1);
  batches.add(mark_record(Kind::kCollectiveStart, 1, 3).header);
  CollectiveMarkRecord end = mark_record(Kind::kCollectiveEnd, 2, 3, Outcome::kFailed);
  end.code = -5;
  batches.add(end.header);
  MessageBuffer buffer;
  batches.append_to(buffer);
  const auto* batch = messages_in(buffer).at(0)->body_as_CollectiveMarks();
  ASSERT_NE(batch, nullptr);
  EXPECT_EQ(batch->kind()->Get(0), 6);
  EXPECT_EQ(batch->kind()->Get(1), 7);
  EXPECT_EQ(values(batch->outcome(), 2), (Numbers{0, 2}));
  EXPECT_EQ(values(batch->id(), 2), (Numbers{3, 3}));
  EXPECT_EQ(static_cast<std::int64_t>(values(batch->code(), 2)[1]), -5);
}

TEST(Batches, RangesStepsAndTheirDepth) {
  Batches batches;
  batches.begin_ring(1);
  RangeRecord range = testing::range_record(Kind::kRangeBegin, 1, 11, 12);
  range.header.depth = 3;
  batches.add(range.header);
  const StepRecord step{{2, Kind::kStepEnd, slots_of<StepRecord>(), 1, 1}, 21, 22, 23, 24};
  batches.add(step.header);
  MessageBuffer buffer;
  batches.append_to(buffer);
  const auto messages = messages_in(buffer);
  ASSERT_EQ(messages.size(), 2u);
  const auto* ranges = messages[0]->body_as_Ranges();
  EXPECT_EQ(values(ranges->depth(), 1), Numbers{3});
  EXPECT_EQ(values(ranges->scope(), 1), Numbers{7});
  EXPECT_EQ(values(ranges->name(), 1), Numbers{11});
  EXPECT_EQ(values(ranges->handle(), 1), Numbers{12});
  const auto* steps = messages[1]->body_as_Steps();
  EXPECT_EQ(steps->kind()->Get(0), 14);
  EXPECT_EQ(values(steps->depth(), 1), Numbers{1});
  EXPECT_EQ(values(steps->raised(), 1), Numbers{1});
  EXPECT_EQ(values(steps->handle(), 1), Numbers{21});
  EXPECT_EQ(values(steps->name(), 1), Numbers{22});
  EXPECT_EQ(values(steps->optimizer(), 1), Numbers{23});
  EXPECT_EQ(values(steps->key(), 1), Numbers{24});
}

TEST(Batches, SettingsOfAParamGroupBitForBit) {
  StepGroupRecord record{};
  record.header = {3, Kind::kStepGroup, slots_of<StepGroupRecord>(), 0, 2u << 16 | 1};
  record.handle = 1;
  record.lr = 1e-3;
  record.weight_decay = -0.0;
  record.beta1 = 0.9;
  record.momentum = std::bit_cast<double>(0x7ff8000000001234);  // a NaN with a payload
  record.step = 17;
  record.params = 5;
  record.params_with_grad = 4;
  record.elements = 1234567;
  Batches batches;
  batches.begin_ring(0);
  batches.add(record.header);
  MessageBuffer buffer;
  batches.append_to(buffer);
  const auto* batch = messages_in(buffer).at(0)->body_as_StepGroups();
  ASSERT_NE(batch, nullptr);
  const auto bits = [](double value) { return Numbers{std::bit_cast<std::uint64_t>(value)}; };
  EXPECT_EQ(values(batch->lr(), 1), bits(1e-3));
  EXPECT_EQ(values(batch->weight_decay(), 1), bits(-0.0));
  EXPECT_EQ(values(batch->momentum(), 1), Numbers{0x7ff8000000001234});
  EXPECT_EQ(values(batch->step(), 1), bits(17));
  EXPECT_EQ(values(batch->params_with_grad(), 1), Numbers{4});
  EXPECT_EQ(values(batch->elements(), 1), Numbers{1234567});
  EXPECT_EQ(values(batch->tag(), 1), Numbers{2u << 16 | 1});
}

TEST(Batches, SamplesAndCommunicators) {
  Batches batches;
  batches.begin_ring(0);
  const SampleRecord sample{{1, Kind::kSample, 1, 0, 1}, -3, 0};
  batches.add(sample.header);
  const CommRecord comm{{2, Kind::kComm, slots_of<CommRecord>(), 0, 4}, 5, 6, 7, -1, 8, -2, 9};
  batches.add(comm.header);
  MessageBuffer buffer;
  batches.append_to(buffer);
  const auto messages = messages_in(buffer);
  ASSERT_EQ(messages.size(), 2u);
  EXPECT_EQ(static_cast<std::int64_t>(values(messages[0]->body_as_Samples()->value(), 1)[0]), -3);
  const auto* comms = messages[1]->body_as_Comms();
  EXPECT_EQ(values(comms->event(), 1), Numbers{4});
  EXPECT_EQ(static_cast<std::int64_t>(values(comms->rank(), 1)[0]), -1);
  EXPECT_EQ(static_cast<std::int64_t>(values(comms->code(), 1)[0]), -2);
  EXPECT_EQ(values(comms->group(), 1), Numbers{9});
}

TEST(Batches, DeviceWork) {
  Batches batches;
  batches.begin_ring(0);
  const DeviceWorkRecord work{{9, Kind::kDeviceWork, slots_of<DeviceWorkRecord>(), 0, 1u << 8}, 5, 6, 7, 8, 3, 4, 0};
  batches.add(work.header);
  MessageBuffer buffer;
  batches.append_to(buffer);
  const auto messages = messages_in(buffer);
  ASSERT_EQ(messages.size(), 1u);
  const auto* works = messages[0]->body_as_DeviceWorks();
  ASSERT_NE(works, nullptr);
  EXPECT_EQ(values(works->time_ns(), 1), Numbers{9});
  EXPECT_EQ(values(works->tag(), 1), Numbers{1u << 8});
  EXPECT_EQ(values(works->duration_ns(), 1), Numbers{5});
  EXPECT_EQ(values(works->parent(), 1), Numbers{7});
  EXPECT_EQ(values(works->bytes(), 1), Numbers{8});
  EXPECT_EQ(values(works->stream(), 1), Numbers{3});
}

TEST(Batches, EachRingHasItsOwnAndDefinitionsAreLeftOut) {
  Batches batches;
  batches.begin_ring(0);
  batches.add(alloc_record(1, 1, 1).header);
  batches.begin_ring(7);
  batches.add(alloc_record(2, 2, 2).header);
  const TextRecord text{{3, Kind::kText, 1, 0, 0}, 1, 0};
  batches.add(text.header);
  MessageBuffer buffer;
  EXPECT_EQ(batches.append_to(buffer).last_ns, 2u);
  const auto messages = messages_in(buffer);
  ASSERT_EQ(messages.size(), 2u);
  EXPECT_EQ(messages[0]->body_as_Allocations()->ring(), 0u);
  EXPECT_EQ(messages[1]->body_as_Allocations()->ring(), 7u);
}

TEST(FrameSummary, Merges) {
  FrameSummary a;
  a.merge({});
  EXPECT_EQ(a.last_ns, 0u);
  FrameSummary b;
  b.note(Kind::kAlloc, 20);
  b.note(Kind::kAlloc, 30);
  a.merge(b);
  FrameSummary c;
  c.note(Kind::kFree, 10);
  a.merge(c);
  EXPECT_EQ(a.first_ns, 10u);
  EXPECT_EQ(a.last_ns, 30u);
  EXPECT_EQ(a.events[2], 2u);
  EXPECT_EQ(a.events[3], 1u);
}

}  // namespace
}  // namespace plumbline::recorder
