#include "reader/ring_snapshot.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>

#include "reader/ring_events.hpp"
#include "reader/testing/ring_file.hpp"

namespace plumbline::reader {
namespace {

using testing::RingFile;
using testing::TempDir;

class RingTest : public ::testing::Test {
 protected:
  RingSnapshot snapshot() {
    file_.save(path_);
    Result<RingSnapshot> snapshot = RingSnapshot::open(path_);
    EXPECT_TRUE(snapshot.ok()) << snapshot.status().message();
    return std::move(*snapshot);
  }
  RingEvents events(const std::map<std::uint32_t, RingProgress>& progress = {}) {
    RingSnapshot ring = snapshot();
    ring.recover(progress);
    definitions_ = {};
    return RingEvents::take(ring, progress, definitions_);
  }
  static std::vector<std::uint64_t> sizes(const RingEvents& events) {
    std::vector<std::uint64_t> sizes;
    for (const AllocationBatch& batch : events.batches().allocations)
      sizes.insert(sizes.end(), batch.size.begin(), batch.size.end());
    return sizes;
  }
  void push_allocations(std::uint32_t ring, std::uint64_t from, std::uint64_t to) {
    for (std::uint64_t i = from; i < to; ++i) file_.push(ring, testing::alloc(1000 + i, 16, i));
  }

  TempDir directory_;
  std::string path_ = directory_ / "a.ring";
  RingFile file_{2, 64};
  Definitions definitions_;
};

using Sizes = std::vector<std::uint64_t>;

TEST_F(RingTest, TheOwnerIsInTheHeader) {
  const RingSnapshot ring = snapshot();
  EXPECT_EQ(ring.owner().pid, 4242u);
  EXPECT_EQ(ring.owner().rank, 3);
  EXPECT_EQ(ring.owner().boot_id, "boot");
  EXPECT_EQ(ring.owner().trace_name, "a.plt");
  EXPECT_TRUE(ring.rings().empty()) << "no thread ever owned one";
}

TEST_F(RingTest, RecordsBetweenTailAndHead) {
  push_allocations(0, 0, 5);
  file_.header(0).tail = 2;
  const RingEvents taken = events();
  EXPECT_EQ(sizes(taken), (Sizes{2, 3, 4}));
  EXPECT_EQ(taken.records(), 3u);
  EXPECT_EQ(taken.batches().allocations[0].generation, 1u);
  EXPECT_TRUE(taken.batches().allocations[0].place.from_ring);
  EXPECT_EQ(definitions_.thread(0, 1)->tid, 100u);
}

TEST_F(RingTest, RecordsThatWrapAround) {
  push_allocations(0, 0, 60);
  file_.header(0).tail = 58;
  push_allocations(0, 60, 70);
  // Four slots do not fit the two left before the wrap point of a later round.
  file_.header(0).tail = 70;
  push_allocations(0, 70, 126);
  file_.header(0).tail = 124;
  file_.push(0, testing::collective({.time_ns = 5, .id = 9}));
  const RingEvents taken = events();
  EXPECT_EQ(sizes(taken), (Sizes{124, 125}));
  ASSERT_EQ(taken.batches().collectives.size(), 1u);
  EXPECT_EQ(taken.batches().collectives[0].id[0], 9u);
}

TEST_F(RingTest, WhatTheTraceHasIsLeftOut) {
  push_allocations(0, 0, 6);
  EXPECT_EQ(sizes(events({{0, {1, 4}}})), (Sizes{4, 5})) << "written, but not given back yet";
  EXPECT_EQ(events({{0, {1, 4}}}).duplicates(), 4u);
  EXPECT_EQ(sizes(events({{0, {1, 99}}})), (Sizes{})) << "the trace was read after the ring";
  EXPECT_EQ(sizes(events({{0, {2, 3}}})), (Sizes{})) << "a later owner's events are in the trace";
}

TEST_F(RingTest, ANewOwnersEventsAreNotTakenForTheOldOnes) {
  push_allocations(0, 0, 6);
  file_.header(0).tail = 6;
  file_.header(0).generation = 2;
  push_allocations(0, 6, 8);
  EXPECT_EQ(sizes(events({{0, {1, 6}}})), (Sizes{6, 7}));
}

TEST_F(RingTest, ReachesBackForWhatDamageTookFromTheTrace) {
  push_allocations(0, 0, 20);
  file_.header(0).tail = 20;
  EXPECT_EQ(sizes(events({{0, {1, 20}}})), (Sizes{}));
  // 64 slots are too few to be sure that the producer is not writing over them.
  EXPECT_EQ(sizes(events({{0, {1, 10}}})), (Sizes{}));
  file_ = RingFile(1, 1024);
  push_allocations(0, 0, 20);
  file_.header(0).tail = 20;
  EXPECT_EQ(sizes(events({{0, {1, 17}}})), (Sizes{17, 18, 19}));
}

class ChunksTest : public RingTest {
 protected:
  static constexpr std::uint64_t kChunk = 512;
  ChunksTest() { file_ = RingFile(2, 4 * kChunk, kChunk); }
};

TEST_F(ChunksTest, RecordsAreFollowedFromChunkToChunk) {
  push_allocations(0, 0, 3 * kChunk);
  file_.header(0).tail = 2 * kChunk + 1;
  push_allocations(0, 3 * kChunk, 5 * kChunk);  // goes on in the first chunk
  EXPECT_EQ(file_.header(0).places[3], 0);
  Sizes expected;
  for (std::uint64_t i = 2 * kChunk + 1; i < 5 * kChunk; ++i) expected.push_back(i);
  EXPECT_EQ(sizes(events()), expected);
}

TEST_F(ChunksTest, ReachesBackAsLongAsNoChunkWasUsedAgain) {
  push_allocations(0, 0, kChunk + 8);
  file_.header(0).tail = kChunk + 4;
  Sizes expected;
  for (std::uint64_t i = 3; i < kChunk + 8; ++i) expected.push_back(i);
  EXPECT_EQ(sizes(events({{0, {1, 3}}})), expected);
  push_allocations(0, kChunk + 8, 2 * kChunk + 1);  // over what lay in the first chunk
  expected.clear();
  for (std::uint64_t i = kChunk + 4; i < 2 * kChunk + 1; ++i) expected.push_back(i);
  EXPECT_EQ(sizes(events({{0, {1, 3}}})), expected);
}

TEST_F(ChunksTest, APlaceBeyondTheRingLosesThatRingOnly) {
  push_allocations(0, 0, 3);
  push_allocations(1, 7, 9);
  file_.header(0).places[0] = 4;
  EXPECT_EQ(sizes(events()), (Sizes{7, 8}));
  EXPECT_EQ(snapshot().damaged_rings(), 1u);
}

TEST_F(RingTest, DefinitionsInTheRingAreTaken) {
  file_.push_text(0, recorder::TextRecord{{1, Kind::kText, 0, 0, 0}, 55, 0}, "AdamW");
  file_.push_text(0, recorder::FactRecord{{1, Kind::kFact, 0, 0, 0}, {}}, "python=3.11");
  file_.push_text(0, recorder::GroupRecord{{1, Kind::kGroup, 0, 0, 0}, 7, 0, 1, 2},
                  std::string_view("0\0default_pg\0gloo\0"
                                   "4,6",
                                   21));
  events();
  EXPECT_EQ(definitions_.text(55), "AdamW");
  EXPECT_EQ(definitions_.fact("python"), "3.11");
  ASSERT_NE(definitions_.group(7), nullptr);
  EXPECT_EQ(definitions_.group(7)->description, "default_pg");
  EXPECT_EQ(definitions_.group(7)->backend, "gloo");
  EXPECT_EQ(definitions_.group(7)->ranks, (std::vector<int>{4, 6}));
}

TEST_F(RingTest, EveryKindOfEventIsTaken) {
  file_.push(0, testing::mark(1, Kind::kCollectiveStart, 1));
  file_.push(0, testing::range_begin(2, 1, 2, 3));
  file_.push(0, testing::step_end(3, 1, 2, 3, 4, true));
  file_.push(0, testing::step_group(4, 1, 2, 0, 1, 0.5));
  file_.push(0, testing::sample(5, Counter::kResidentBytes, -3));
  recorder::CommRecord comm{};
  comm.header = {6, Kind::kComm, recorder::slots_of<recorder::CommRecord>(), 0, 2};
  comm.rank = -1;
  file_.push(0, comm);
  const RingEvents taken = events();
  EXPECT_EQ(taken.records(), 6u);
  EXPECT_EQ(taken.batches().marks[0].id[0], 1u);
  EXPECT_EQ(taken.batches().ranges[0].depth[0], 3u);
  EXPECT_EQ(taken.batches().steps[0].raised[0], 1u);
  EXPECT_EQ(as_double(taken.batches().step_groups[0].lr[0]), 0.5);
  EXPECT_EQ(static_cast<std::int64_t>(taken.batches().samples[0].value[0]), -3);
  EXPECT_EQ(static_cast<std::int64_t>(taken.batches().comms[0].rank[0]), -1);
  EXPECT_EQ(taken.span().first_ns, 1u);
  EXPECT_EQ(taken.span().last_ns, 6u);
}

TEST_F(RingTest, SelectsByQuery) {
  push_allocations(0, 0, 3);
  file_.push(0, testing::sample(5, Counter::kResidentBytes, 1));
  const RingEvents taken = events();
  EXPECT_EQ(taken.select({.kinds = kSamples}).samples.size(), 1u);
  EXPECT_TRUE(taken.select({.kinds = kSamples}).allocations.empty());
  EXPECT_TRUE(taken.select({.from_ns = 5000}).empty());
}

TEST_F(RingTest, CallsInFlight) {
  push_allocations(1, 0, 1);
  file_.header(1).calls[1].what = static_cast<std::uint32_t>(Kind::kWait);
  file_.header(1).calls[1].id_or_size = 12;
  file_.header(1).in_flight.what = 4000;  // nonsense
  const RingSnapshot ring = snapshot();
  ASSERT_EQ(ring.in_flight().size(), 1u);
  EXPECT_EQ(ring.in_flight()[0].what, Kind::kWait);
  EXPECT_EQ(ring.in_flight()[0].id_or_size, 12u);
  EXPECT_EQ(ring.in_flight()[0].ring, 1u);
}

TEST_F(RingTest, HooksAreCountedOverAllRings) {
  push_allocations(0, 0, 1);
  push_allocations(1, 0, 1);
  file_.file_header().hook_fired[2] = 5;
  file_.counters(0).fired[2] = 30;
  file_.counters(1).fired[2] = 700;
  EXPECT_EQ(snapshot().hook_fired()[2], 735u);
}

TEST_F(RingTest, NonsenseInTheSlotsEndsThatRingOnly) {
  push_allocations(0, 0, 5);
  push_allocations(1, 0, 2);
  file_.slot(0, 3)[10] = std::byte{0xee};  // number of slots
  const RingEvents taken = events();
  EXPECT_EQ(taken.damaged(), 1u);
  EXPECT_EQ(sizes(taken), (Sizes{0, 1, 2, 0, 1}));
}

TEST_F(RingTest, NonsenseInARingsHeaderLosesThatRingOnly) {
  push_allocations(0, 0, 5);
  push_allocations(1, 0, 2);
  const recorder::RingHeader& good = file_.header(0);
  const std::uint64_t capacity = good.capacity;
  const auto damaged = [&](auto&& change) {
    RingFile kept = file_;
    change(file_.header(0));
    const RingSnapshot ring = snapshot();
    EXPECT_EQ(ring.damaged_rings(), 1u);
    EXPECT_EQ(ring.rings().size(), 1u);
    file_ = kept;
  };
  damaged([](recorder::RingHeader& h) { h.capacity = 63; });
  damaged([](recorder::RingHeader& h) { h.capacity = std::uint64_t{1} << 60; });
  damaged([](recorder::RingHeader& h) { h.data_offset = ~std::uint64_t{0}; });
  damaged([](recorder::RingHeader& h) { h.tail = 6; });
  damaged([&](recorder::RingHeader& h) { h.head = capacity + 1; });
}

TEST_F(RingTest, ForeignAndCutOffFilesSayWhatTheyAre) {
  testing::write_file(path_, "PLBRINGX and more");
  EXPECT_EQ(RingSnapshot::open(path_).status().code(), Code::kForeign);
  testing::write_file(path_, "PLBRING1 and more");
  EXPECT_EQ(RingSnapshot::open(path_).status().code(), Code::kDamaged);
  file_.file_header().version = 99;
  file_.save(path_);
  EXPECT_EQ(RingSnapshot::open(path_).status().code(), Code::kForeign);
  EXPECT_NE(RingSnapshot::open(path_).status().message().find("99"), std::string::npos);
}

// A sparse file costs nothing, whatever it claims to hold.
TEST(RingSnapshotTest, ARingThatClaimsTheWorldIsDamaged) {
  const TempDir directory;
  RingFile ring(2, 64);
  ring.push(0, testing::alloc(1000, 16, 16));
  ring.push(1, testing::alloc(1000, 16, 16));
  ring.header(0).capacity = std::uint64_t{1} << 35;
  ring.header(0).head = std::uint64_t{1} << 35;
  ring.save(directory / "a.ring");
  std::filesystem::resize_file(directory / "a.ring", std::uint64_t{1} << 42);
  const auto snapshot = RingSnapshot::open(directory / "a.ring");
  ASSERT_TRUE(snapshot.ok());
  EXPECT_EQ(snapshot->damaged_rings(), 1U);
  ASSERT_EQ(snapshot->rings().size(), 1U);
  EXPECT_EQ(snapshot->rings()[0].number, 1U);
}

TEST(RingSnapshotTest, TellsThatRecordingEndedBeforeTheProcess) {
  const TempDir directory;
  RingFile ring(1, 64);
  ring.save(directory / "a.ring");
  EXPECT_FALSE(RingSnapshot::open(directory / "a.ring")->stop());
  ring.file_header().stopped_ns = 900;
  std::strcpy(ring.file_header().stop_reason, "the disk is full");
  ring.file_header().exit_ns = 1000;
  ring.file_header().exit_status = 3;
  ring.save(directory / "a.ring");
  const auto snapshot = RingSnapshot::open(directory / "a.ring");
  ASSERT_TRUE(snapshot.ok() && snapshot->stop());
  EXPECT_EQ(snapshot->stop()->time_ns, 900U);
  EXPECT_EQ(snapshot->stop()->reason, "the disk is full");
  EXPECT_EQ(snapshot->stop()->exit_ns, 1000U);
  EXPECT_EQ(snapshot->stop()->exit_status, 3);
  EXPECT_FALSE(snapshot->exit());
}

TEST(RingSnapshotTest, KnowsTheExitThatTheWriterHadNoTimeFor) {
  const TempDir directory;
  RingFile ring(1, 64);
  ring.save(directory / "a.ring");
  EXPECT_FALSE(RingSnapshot::open(directory / "a.ring")->exit());
  ring.file_header().exit_ns = 1000;
  ring.file_header().exit_status = 3;
  ring.save(directory / "a.ring");
  const Result<Trace> trace = Trace::open({}, directory / "a.ring");
  ASSERT_TRUE(trace.ok()) << trace.status().message();
  ASSERT_NE(trace->exit(), nullptr);
  EXPECT_EQ(trace->exit()->status, 3);
  EXPECT_EQ(trace->exit()->time_ns, 1000U);
  EXPECT_EQ(trace->stop(), nullptr);
  EXPECT_FALSE(trace->clean_end());
}

}  // namespace
}  // namespace plumbline::reader
