#include "reader/allocations.hpp"

#include <gtest/gtest.h>

#include <map>

#include "reader/testing/records.hpp"

namespace plumbline::reader {
namespace {

using testing::alloc;
using testing::failed_alloc;
using testing::release;

// Rows of one thread as a batch.
class Rows {
 public:
  Rows(std::uint32_t ring, const std::vector<recorder::AllocRecord>& records) {
    for (const recorder::AllocRecord& r : records) {
      kinds_.push_back(static_cast<std::uint8_t>(r.header.kind));
      tags_.push_back(r.header.tag);
      times_.push_back(r.header.time_ns);
      addresses_.push_back(r.address);
      sizes_.push_back(r.size);
    }
    batch.ring = ring;
    batch.count = records.size();
    batch.kind = kinds_;
    batch.tag = tags_;
    batch.time_ns = times_;
    batch.address = addresses_;
    batch.size = sizes_;
  }
  AllocationBatch batch;

 private:
  std::vector<std::uint8_t> kinds_;
  std::vector<std::uint64_t> tags_, times_, addresses_, sizes_;
};

void add(AllocationAnalyzer& analyzer, const std::vector<recorder::AllocRecord>& records) {
  const Rows rows(0, records);
  analyzer.add({.allocations = std::span(&rows.batch, 1)});
}

TEST(AllocationsTest, LiveBytesAndTheirPeak) {
  AllocationAnalyzer analyzer;
  add(analyzer, {alloc(1, 0x1000, 100), alloc(2, 0x2000, 50), release(3, 0x1000), alloc(4, 0x3000, 30)});
  const AllocationStats& stats = analyzer.stats()[0];
  EXPECT_EQ(stats.allocations, 3u);
  EXPECT_EQ(stats.frees, 1u);
  EXPECT_EQ(stats.bytes, 180u);
  EXPECT_EQ(stats.largest, 100u);
  EXPECT_EQ(stats.live, 2u);
  EXPECT_EQ(stats.live_bytes, 80u);
  EXPECT_EQ(stats.peak_bytes, 150u);
  EXPECT_EQ(stats.peak_ns, 2u);
  EXPECT_EQ(stats.unmatched_frees, 0u);
}

TEST(AllocationsTest, ThreadsAreMergedByTime) {
  AllocationAnalyzer analyzer;
  const Rows a(0, {alloc(1, 0x1000, 100), alloc(5, 0x1000, 10)});
  const Rows b(1, {release(3, 0x1000)});
  const std::vector<AllocationBatch> batches = {a.batch, b.batch};
  analyzer.add({.allocations = batches});
  EXPECT_EQ(analyzer.stats()[0].live_bytes, 10u);
  EXPECT_EQ(analyzer.stats()[0].replaced, 0u);
  EXPECT_EQ(analyzer.stats()[0].peak_bytes, 100u);
}

TEST(AllocationsTest, AFreeReadAfterTheNextAllocationAtItsAddress) {
  AllocationAnalyzer analyzer;
  add(analyzer, {alloc(1, 0x1000, 100), alloc(5, 0x1000, 10)});
  EXPECT_EQ(analyzer.stats()[0].replaced, 1u);
  add(analyzer, {release(3, 0x1000)});
  EXPECT_EQ(analyzer.stats()[0].replaced, 0u);
  EXPECT_EQ(analyzer.stats()[0].live_bytes, 10u) << "the newer one lives on";
  add(analyzer, {release(7, 0x1000)});
  EXPECT_EQ(analyzer.stats()[0].live, 0u);
}

TEST(AllocationsTest, AFreeOfAnUnknownAddressIsCounted) {
  AllocationAnalyzer analyzer;
  add(analyzer, {release(1, 0x9000)});
  EXPECT_EQ(analyzer.stats()[0].unmatched_frees, 1u);
  EXPECT_EQ(analyzer.stats()[0].live_bytes, 0u);
}

TEST(AllocationsTest, SourcesAndDevicesApart) {
  AllocationAnalyzer analyzer;
  // A block of the caching allocator at the very address of its segment and of the segment's cudaMalloc.
  add(analyzer, {alloc(1, 0x7f00, 1000, Source::kCudaMalloc, 0), alloc(2, 0x7f00, 900, Source::kCachingSegment, 0),
                 alloc(3, 0x7f00, 500, Source::kCachingBlock, 0), alloc(4, 0x8f00, 70, Source::kCudaMalloc, 1)});
  EXPECT_EQ(analyzer.stats().size(), 4u);
  add(analyzer, {release(5, 0x7f00, Source::kCachingBlock, 0)});
  std::map<Source, std::uint64_t> live;
  for (const AllocationStats& stats : analyzer.stats()) live[stats.source] += stats.live_bytes;
  EXPECT_EQ(live[Source::kCachingBlock], 0u);
  EXPECT_EQ(live[Source::kCachingSegment], 900u);
  EXPECT_EQ(live[Source::kCudaMalloc], 1070u);
}

TEST(AllocationsTest, MemoryOfNcclIsFreedByCudaFree) {
  AllocationAnalyzer analyzer;
  add(analyzer, {alloc(1, 0x7f00, 64, Source::kNcclInternal, 0), release(2, 0x7f00, Source::kCudaMalloc, 0)});
  EXPECT_EQ(analyzer.stats()[0].source, Source::kNcclInternal);
  EXPECT_EQ(analyzer.stats()[0].frees, 1u);
  EXPECT_EQ(analyzer.stats()[0].live, 0u);
}

TEST(AllocationsTest, FailuresAreKept) {
  AllocationAnalyzer analyzer;
  add(analyzer, {failed_alloc(1, 1 << 30), failed_alloc(2, 5)});
  EXPECT_EQ(analyzer.stats()[0].failures, 2u);
  EXPECT_EQ(analyzer.stats()[0].failed_bytes, std::uint64_t{1} << 30);
  EXPECT_EQ(analyzer.stats()[0].allocations, 0u);
}

TEST(AllocationsTest, WhatIsLiveLargestFirst) {
  AllocationAnalyzer analyzer;
  add(analyzer, {alloc(1, 0x1000, 5), alloc(2, 0x2000, 50, Source::kCudaHost, 0), alloc(3, 0x3000, 7)});
  const auto live = analyzer.live();
  ASSERT_EQ(live.size(), 3u);
  EXPECT_EQ(live[0].address, 0x2000u);
  EXPECT_EQ(live[0].source, Source::kCudaHost);
  EXPECT_EQ(live[0].device, 0);
  EXPECT_EQ(live[1].size, 7u);
  EXPECT_EQ(live[2].time_ns, 1u);
}

TEST(AllocationsTest, TotalsCountNoMemoryTwice) {
  AllocationAnalyzer analyzer;
  add(analyzer,
      {alloc(1, 0x1, 10), alloc(2, 0x2, 100, Source::kCudaMalloc, 0), alloc(3, 0x2, 60, Source::kCachingBlock, 0)});
  EXPECT_EQ(analyzer.total(false).live_bytes, 10u);
  EXPECT_EQ(analyzer.total(true).live_bytes, 100u);
}

TEST(AllocationsTest, AnObserverSeesEveryChange) {
  AllocationAnalyzer analyzer;
  std::vector<std::uint64_t> seen;
  analyzer.observe(
      [](void* context, const AllocationStats& stats, std::uint64_t) {
        static_cast<std::vector<std::uint64_t>*>(context)->push_back(stats.live_bytes);
      },
      &seen);
  add(analyzer, {alloc(1, 0x1000, 5), alloc(2, 0x2000, 6), release(3, 0x1000)});
  EXPECT_EQ(seen, (std::vector<std::uint64_t>{5, 11, 6}));
}

}  // namespace
}  // namespace plumbline::reader
