#include "reader/import/flight_names.hpp"

#include <gtest/gtest.h>

namespace plumbline::reader::imports {
namespace {

using recorder::Dtype;
using recorder::Op;

TEST(FlightNamesTest, Operations) {
  const FlightOperation reduce = parse_flight_operation("nccl:all_reduce");
  EXPECT_EQ(reduce.backend, "nccl");
  EXPECT_EQ(reduce.op, Op::kAllReduce);
  EXPECT_EQ(reduce.peer, -1);
  EXPECT_EQ(parse_flight_operation("nccl:_all_gather_base").op, Op::kAllGatherBase);
  EXPECT_EQ(parse_flight_operation("xccl:_reduce_scatter_base").op, Op::kReduceScatterBase);
  EXPECT_EQ(parse_flight_operation("gloo:barrier").op, Op::kBarrier);
  EXPECT_EQ(parse_flight_operation("nccl:all_reduce_barrier").op, Op::kBarrier);
  EXPECT_EQ(parse_flight_operation("nccl:coalesced").op, Op::kGroupCall);
  EXPECT_EQ(parse_flight_operation("nccl:something_new").op, Op::kUnknown);
  EXPECT_EQ(parse_flight_operation("").op, Op::kUnknown);
}

TEST(FlightNamesTest, SendsAndReceivesNameTheOtherOneLast) {
  EXPECT_EQ(parse_flight_operation("nccl:send 0->3").peer, 3);
  EXPECT_EQ(parse_flight_operation("nccl:send 0->3").op, Op::kSend);
  EXPECT_EQ(parse_flight_operation("nccl:recv 3<-12").peer, 12);
  EXPECT_EQ(parse_flight_operation("nccl:recv 3<-12").op, Op::kRecv);
  EXPECT_EQ(parse_flight_operation("nccl:send ").peer, -1);
}

TEST(FlightNamesTest, LogsAndProfilersSpellTheSameOperationsTheirWay) {
  EXPECT_EQ(op_named("ALLREDUCE"), Op::kAllReduce);
  EXPECT_EQ(op_named("_ALLGATHER_BASE"), Op::kAllGatherBase);
  EXPECT_EQ(op_named("allreduce"), Op::kAllReduce);
  EXPECT_EQ(op_named("ReduceScatter"), Op::kReduceScatter);
  EXPECT_EQ(op_named("alltoallv"), Op::kAllToAllBase);
  EXPECT_EQ(op_named("wait"), Op::kUnknown);
}

TEST(FlightNamesTest, ElementTypes) {
  EXPECT_EQ(dtype_named("Float"), Dtype::kFloat32);
  EXPECT_EQ(dtype_named("BFloat16"), Dtype::kBfloat16);
  EXPECT_EQ(dtype_named("c10::BFloat16"), Dtype::kBfloat16);
  EXPECT_EQ(dtype_named("long int"), Dtype::kInt64);
  EXPECT_EQ(dtype_named("Float8_e4m3fn"), Dtype::kFloat8E4m3);
  EXPECT_EQ(dtype_named("Quaternion"), Dtype::kUnknown);
}

TEST(FlightNamesTest, ListsOfRanks) {
  EXPECT_EQ(parse_ranks("[0, 1, 12]"), (std::vector<int>{0, 1, 12}));
  EXPECT_TRUE(parse_ranks("[]").empty());
  EXPECT_TRUE(parse_ranks("none").empty());
}

}  // namespace
}  // namespace plumbline::reader::imports
