#include "reader/merge.hpp"

#include <gtest/gtest.h>

namespace plumbline::reader {
namespace {

template <class Batch>
Batch batch_of(std::uint32_t ring, const std::vector<std::uint64_t>& times) {
  Batch batch;
  batch.ring = ring;
  batch.count = times.size();
  batch.time_ns = times;
  return batch;
}

TEST(MergeTest, RowsOfAllThreadsAndKindsByTime) {
  const std::vector<std::uint64_t> a = {10, 40, 50};
  const std::vector<std::uint64_t> b = {20, 45};
  const std::vector<std::uint64_t> c = {5, 30, 60};
  const std::vector<AllocationBatch> allocations = {batch_of<AllocationBatch>(0, a), batch_of<AllocationBatch>(1, b)};
  const std::vector<MarkBatch> marks = {batch_of<MarkBatch>(2, c)};
  std::vector<std::uint64_t> times;
  std::vector<std::uint32_t> rings;
  for_each_row({.allocations = allocations, .marks = marks}, [&](const Row& row) {
    times.push_back(row.time_ns);
    rings.push_back(row.ring);
    return true;
  });
  EXPECT_EQ(times, (std::vector<std::uint64_t>{5, 10, 20, 30, 40, 45, 50, 60}));
  EXPECT_EQ(rings, (std::vector<std::uint32_t>{2, 0, 1, 2, 0, 1, 0, 2}));
}

TEST(MergeTest, ARowNamesItsPlace) {
  const std::vector<std::uint64_t> times = {1, 2};
  const std::vector<SampleBatch> samples = {batch_of<SampleBatch>(3, times)};
  std::vector<Row> rows;
  for_each_row({.samples = samples}, [&](const Row& row) {
    rows.push_back(row);
    return true;
  });
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[1].type, kSamples);
  EXPECT_EQ(rows[1].batch, 0u);
  EXPECT_EQ(rows[1].row, 1u);
}

TEST(MergeTest, EmptyBatchesAndFramesAreFine) {
  const std::vector<SampleBatch> samples(2);
  int rows = 0;
  for_each_row({.samples = samples}, [&](const Row&) { return ++rows > 0; });
  for_each_row({}, [&](const Row&) { return ++rows > 0; });
  EXPECT_EQ(rows, 0);
}

TEST(MergeTest, StopsWhenTold) {
  const std::vector<std::uint64_t> times = {1, 2, 3};
  const std::vector<SampleBatch> samples = {batch_of<SampleBatch>(3, times)};
  int rows = 0;
  for_each_row({.samples = samples}, [&](const Row&) { return ++rows < 2; });
  EXPECT_EQ(rows, 2);
}

TEST(MergeTest, EqualTimesKeepTheOrderOfTheirKinds) {
  const std::vector<std::uint64_t> times = {7};
  const std::vector<CollectiveBatch> collectives = {batch_of<CollectiveBatch>(0, times)};
  const std::vector<MarkBatch> marks = {batch_of<MarkBatch>(0, times)};
  std::vector<Kinds> types;
  for_each_row({.collectives = collectives, .marks = marks}, [&](const Row& row) {
    types.push_back(row.type);
    return true;
  });
  EXPECT_EQ(types, (std::vector<Kinds>{kCollectives, kMarks}));
}

}  // namespace
}  // namespace plumbline::reader
