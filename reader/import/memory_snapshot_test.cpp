#include "reader/import/memory_snapshot.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "reader/import/json_document.hpp"
#include "reader/testing/records.hpp"

namespace plumbline::reader::imports {
namespace {

using recorder::Kind;
using recorder::Source;

// Snapshots are written as JSON here, which reads as the same plain data as their pickles.
class MemorySnapshotTest : public ::testing::Test {
 protected:
  ImportedProcess import(const std::string& json) {
    testing::write_file(directory_ / "snapshot", json);
    Result<ByteSource> source = ByteSource::open(directory_ / "snapshot");
    const Result<PlainData> data = read_json_document(*source);
    EXPECT_TRUE(data.ok()) << data.status().message();
    EXPECT_TRUE(is_memory_snapshot(*data));
    return import_memory_snapshot(*data, 2);
  }

  // "alloc block 1000 +64" for each event, in time.
  static std::vector<std::string> rows(ImportedProcess process) {
    std::stable_sort(process.allocations.begin(), process.allocations.end(),
                     [](const auto& a, const auto& b) { return a.time_ns < b.time_ns; });
    std::vector<std::string> rows;
    for (const ImportedAllocation& one : process.allocations)
      rows.push_back(std::string(one.kind == Kind::kAlloc  ? "alloc "
                                 : one.kind == Kind::kFree ? "free "
                                                           : "failed ") +
                     (one.source == Source::kCachingBlock ? "block " : "segment ") + std::to_string(one.address) +
                     " +" + std::to_string(one.size));
    return rows;
  }

  testing::TempDir directory_;
};

using Rows = std::vector<std::string>;

TEST_F(MemorySnapshotTest, TheTraceIsReplayed) {
  const ImportedProcess process = import(
      R"({"segments": [{"address": 1000, "total_size": 128, "blocks": [{"address": 1000, "size": 64, "state": "inactive"}]}],
          "device_traces": [[{"action": "segment_alloc", "addr": 1000, "size": 128, "time_us": 5},
                             {"action": "alloc", "addr": 1000, "size": 64, "time_us": 6},
                             {"action": "free_requested", "addr": 1000, "size": 64, "time_us": 7},
                             {"action": "free_completed", "addr": 1000, "size": 64, "time_us": 8},
                             {"action": "oom", "device_free": 3, "size": 999, "time_us": 9}]]})");
  EXPECT_EQ(rows(process),
            (Rows{"alloc segment 1000 +128", "alloc block 1000 +64", "free block 1000 +64", "failed block 0 +999"}));
  EXPECT_EQ(process.allocations[0].time_ns, 5000U);
  EXPECT_EQ(process.rank, 2);
}

TEST_F(MemorySnapshotTest, WhatWasThereBeforeTheTraceComesBeforeIt) {
  const ImportedProcess process = import(
      R"({"segments": [{"address": 1000, "total_size": 256, "blocks": [
              {"address": 1000, "size": 64, "state": "active_allocated"},
              {"address": 1064, "size": 64, "state": "active_pending_free"},
              {"address": 1128, "size": 64, "state": "active_awaiting_free"},
              {"address": 1192, "size": 64, "state": "inactive"}]}],
          "device_traces": [[{"action": "free_completed", "addr": 1192, "size": 64, "time_us": 7}]]})");
  EXPECT_EQ(rows(process), (Rows{"alloc block 1192 +64", "alloc segment 1000 +256", "alloc block 1000 +64",
                                 "alloc block 1064 +64", "alloc block 1128 +64", "free block 1192 +64"}));
}

TEST_F(MemorySnapshotTest, BlocksWithoutAddressesFollowEachOther) {
  const ImportedProcess process = import(
      R"({"segments": [{"address": 1000, "total_size": 192, "blocks": [
              {"size": 64, "state": "inactive"},
              {"size": 128, "requested_size": 100, "state": "active_allocated",
               "history": [{"addr": 1064, "real_size": 100, "frames": [{"name": "f", "filename": "a.py", "line": 3}]}]}]}]})");
  EXPECT_EQ(rows(process), (Rows{"alloc segment 1000 +192", "alloc block 1064 +128"}));
  ASSERT_EQ(process.stacks.size(), 1U);
  EXPECT_EQ(process.stacks[0].detail, 100U) << "what was asked for, not what was given";
}

TEST_F(MemorySnapshotTest, AnExpandableSegmentInPartsIsNotCountedTwice) {
  const ImportedProcess process = import(
      R"({"segments": [{"address": 1000, "total_size": 256, "is_expandable": true, "blocks": []}],
          "device_traces": [[{"action": "segment_map", "addr": 1000, "size": 128, "time_us": 5},
                             {"action": "segment_map", "addr": 1128, "size": 128, "time_us": 6}]]})");
  EXPECT_EQ(rows(process), (Rows{"alloc segment 1000 +128", "alloc segment 1128 +128"}));
}

TEST_F(MemorySnapshotTest, EachPlaceHasOneStackAndEachFailureItsOwn) {
  std::string trace;
  const std::string frames = R"("frames": [{"name": "f", "filename": "a.py", "line": 3}]})";
  for (int i = 1; i <= 3; ++i)
    trace += std::string(i == 1 ? "" : ",") + R"({"action": "oom", "size": )" + std::to_string(i) + ", " + frames;
  const ImportedProcess process = import(R"({"segments": [], "device_traces": [[)" + trace + "]]}");
  ASSERT_EQ(process.stacks.size(), 3U);
  EXPECT_EQ(process.stacks[0].detail, 3U) << "the largest first";
  EXPECT_EQ(process.stacks[0].reason, recorder::StackReason::kFailedAllocation);
}

}  // namespace
}  // namespace plumbline::reader::imports
