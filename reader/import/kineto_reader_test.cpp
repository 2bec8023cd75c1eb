#include "reader/import/kineto_reader.hpp"

#include <gtest/gtest.h>

#include "reader/import/kineto.hpp"
#include "reader/testing/records.hpp"

namespace plumbline::reader::imports {
namespace {

class KinetoReaderTest : public ::testing::Test {
 protected:
  KinetoImport import(std::string_view json) {
    testing::write_file(directory_ / "trace.json", json);
    Result<ByteSource> source = ByteSource::open(directory_ / "trace.json");
    return import_kineto(*source, -1);
  }
  KinetoImport import_events(const std::string& events, const std::string& header = {}) {
    return import("{" + header + "\"traceEvents\": [" + events + "]}");
  }

  testing::TempDir directory_;
};

TEST_F(KinetoReaderTest, MicrosecondsBecomeNanosecondsExactly) {
  EXPECT_EQ(nanoseconds_of("5113407080482.149"), 5'113'407'080'482'149U);
  EXPECT_EQ(nanoseconds_of("1695835542514261"), 1'695'835'542'514'261'000U);
  EXPECT_EQ(nanoseconds_of("0.5"), 500U);
  EXPECT_EQ(nanoseconds_of("1.23456"), 1'234U);
  EXPECT_EQ(nanoseconds_of("1.5e3"), 1'500'000U);
  EXPECT_EQ(nanoseconds_of("-3"), 0U);
  EXPECT_EQ(nanoseconds_of("99999999999999999999"), 0U);
}

TEST_F(KinetoReaderTest, TheRankInTheBeginning) {
  EXPECT_EQ(
      kineto_rank(R"({"schemaVersion": 1, "distributedInfo": {"backend": "nccl", "rank": 34, "world_size": 300})"), 34);
  EXPECT_EQ(kineto_rank(R"({"schemaVersion": 1, "rank": 3})"), -1);
}

TEST_F(KinetoReaderTest, OnlyWhatAnImportIsAboutIsVisited) {
  const KinetoImport read = import_events(
      R"({"ph": "X", "cat": "python_function", "name": "f", "ts": 1, "dur": 2, "args": {"a": "}"}},)"
      R"({"ph": "X", "cat": "cpu_op", "name": "aten::add", "ts": 1, "dur": 2},)"
      R"({"ph": "X", "cat": "kernel", "name": "gemm", "ts": 1, "dur": 2, "args": {}},)"
      R"({"ph": "X", "cat": "user_annotation", "name": "mine", "pid": 4, "tid": 5, "ts": 10, "dur": 2.5})");
  EXPECT_TRUE(read.status.ok()) << read.status.message();
  EXPECT_EQ(read.events, 4U);
  ASSERT_EQ(read.process.ranges.size(), 1U);
  EXPECT_EQ(read.process.ranges[0].name, "mine");
  EXPECT_EQ(read.process.ranges[0].begin_ns, 10'000U);
  EXPECT_EQ(read.process.ranges[0].end_ns, 12'500U);
  EXPECT_EQ(read.process.pid, 4U);
  EXPECT_TRUE(read.process.calls.empty());
}

TEST_F(KinetoReaderTest, KeysMayStandInAnyOrder) {
  const KinetoImport read = import_events(
      R"({"args": {"Bytes": 512, "Addr": 4096, "Device Type": 1, "Device Id": 2}, "tid": "stream 7", "ts": 3,)"
      R"( "name": "[memory]", "cat": "cpu_instant_event", "ph": "i"})",
      R"("distributedInfo": {"rank": 6, "world_size": 8}, )");
  ASSERT_EQ(read.process.allocations.size(), 1U);
  EXPECT_EQ(read.process.allocations[0].size, 512U);
  EXPECT_EQ(read.process.allocations[0].device, 2);
  EXPECT_EQ(read.process.allocations[0].source, recorder::Source::kCachingBlock);
  EXPECT_EQ(read.process.rank, 6);
  EXPECT_EQ(read.process.world_size, 8);
}

TEST_F(KinetoReaderTest, ACallGetsTheTimeOfItsKernel) {
  const KinetoImport read = import_events(
      R"({"cat": "cpu_op", "name": "record_param_comms", "tid": 5, "ts": 10, "dur": 4, "args": {"External id": 7,)"
      R"( "Collective name": "_allgather_base", "dtype": "BFloat16", "In msg nelems": 8, "Out msg nelems": 32,)"
      R"( "Process Group Name": "2", "Process Group Ranks": "[4, 5, ..., 7]", "Group size": 4,)"
      R"( "Global rank start": 4, "Global rank stride": 1}},)"
      R"({"cat": "cpu_op", "name": "record_param_comms", "ts": 20, "dur": 4, "args": {"Collective name": "wait"}},)"
      R"({"cat": "kernel", "name": "ncclDevKernel_AllGather_RING", "tid": 20, "ts": 13, "dur": 50, "args": {"External id": 7}})",
      R"("baseTimeNanoseconds": 1000000000, "distributedInfo": {"rank": 5}, )");
  ASSERT_EQ(read.process.calls.size(), 1U) << "a wait is no collective";
  const ImportedCall& call = read.process.calls[0];
  EXPECT_EQ(call.op, recorder::Op::kAllGatherBase);
  EXPECT_EQ(call.count_out, 32U);
  EXPECT_EQ(call.enqueue_ns, 1'000'010'000U);
  EXPECT_EQ(call.start_ns, 1'000'013'000U);
  EXPECT_EQ(call.end_ns, 1'000'063'000U);
  ASSERT_EQ(read.process.groups.size(), 1U);
  EXPECT_EQ(read.process.groups[0].ranks, (std::vector<int>{4, 5, 6, 7})) << "a list cut short is filled in";
  EXPECT_EQ(read.process.groups[0].rank, 1);
}

TEST_F(KinetoReaderTest, AnUnevenAllToAllIsMarked) {
  const auto event = [](const char* splits) {
    return R"({"cat": "cpu_op", "name": "record_param_comms", "ts": 10, "dur": 4, "args": {"Collective name": "all_to_allv",)"
           R"( "In split size": ")" +
           std::string(splits) + "\"}}";
  };
  const KinetoImport read = import_events(event("[3, 5]") + "," + event("[]"));
  ASSERT_EQ(read.process.calls.size(), 2U);
  EXPECT_TRUE(read.process.calls[0].uneven);
  EXPECT_FALSE(read.process.calls[1].uneven);
}

TEST_F(KinetoReaderTest, GlooRangesAreCallsWithShapes) {
  const KinetoImport read = import_events(
      R"({"cat": "user_annotation", "name": "gloo:all_reduce", "ts": 1, "dur": 2, "args": {"Input Dims": [[4, 8], [3]], "Input type": ["float"]}},)"
      R"({"cat": "user_annotation", "name": "gloo:all_reduce", "ts": 5, "dur": 2, "args": {"Input Dims": [[2]]}})");
  ASSERT_EQ(read.process.calls.size(), 2U);
  EXPECT_EQ(read.process.calls[0].count_in, 35U);
  EXPECT_EQ(read.process.calls[0].dtype, recorder::Dtype::kFloat32);
  EXPECT_EQ(read.process.calls[1].seq, 1U);
  EXPECT_TRUE(read.process.ranges.empty()) << "they are not ranges as well";
}

TEST_F(KinetoReaderTest, OptimizerStepsAreSteps) {
  const KinetoImport read =
      import_events(R"({"cat": "user_annotation", "name": "Optimizer.step#AdamW.step", "ts": 1, "dur": 2},)"
                    R"({"cat": "user_annotation", "name": "Optimizer.zero_grad#AdamW.zero_grad", "ts": 5, "dur": 2})");
  ASSERT_EQ(read.process.ranges.size(), 2U);
  EXPECT_TRUE(read.process.ranges[0].optimizer_step);
  EXPECT_EQ(read.process.ranges[0].name, "AdamW");
  EXPECT_FALSE(read.process.ranges[1].optimizer_step);
}

TEST_F(KinetoReaderTest, WhatComesBeforeACutIsKept) {
  const std::string whole =
      R"({"traceEvents": [{"cat": "user_annotation", "name": "a", "ts": 1, "dur": 2}, {"cat": "user_an)";
  const KinetoImport read = import(whole);
  EXPECT_FALSE(read.status.ok());
  EXPECT_NE(read.status.message().find("cut off"), std::string::npos);
  EXPECT_EQ(read.process.ranges.size(), 1U);
}

TEST_F(KinetoReaderTest, ABareListOfEventsIsATraceToo) {
  EXPECT_EQ(import(R"([{"cat": "user_annotation", "name": "a", "ts": 1, "dur": 2}])").process.ranges.size(), 1U);
}

}  // namespace
}  // namespace plumbline::reader::imports
