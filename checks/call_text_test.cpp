#include "checks/call_text.hpp"

#include <gtest/gtest.h>

namespace plumbline::checks {
namespace {

reader::Collective a_call(reader::Op op) {
  reader::Collective call;
  call.op = op;
  call.seq = 37;
  call.dtype = reader::Dtype::kFloat32;
  call.count_in = 4;
  call.count_out = 8;
  return call;
}

TEST(CallTextTest, NamesACallByOperationAndNumber) { EXPECT_EQ(call_name(a_call(reader::Op::kSend)), "send #37"); }

TEST(CallTextTest, TellsWhatItCarried) {
  reader::Collective call = a_call(reader::Op::kAllGather);
  EXPECT_EQ(call_text(call), "all_gather #37, float32[8]");
  call.op = reader::Op::kAllReduce;
  call.reduce_op = reader::ReduceOp::kSum;
  EXPECT_EQ(call_text(call), "all_reduce #37, sum of float32[8]");
}

TEST(CallTextTest, ABarrierCarriesNothing) { EXPECT_EQ(call_text(a_call(reader::Op::kBarrier)), "barrier #37"); }

TEST(CallTextTest, AGroupGoesByItsDescription) {
  reader::Group group;
  EXPECT_EQ(group_name(group), "a group without a name");
  group.name = "12";
  EXPECT_EQ(group_name(group), "12");
  group.description = "undefined";
  EXPECT_EQ(group_name(group), "12");
  group.description = "mesh_dp";
  EXPECT_EQ(group_name(group), "mesh_dp");
}

TEST(CallTextTest, BackendRangesAreKnownByTheirPrefix) {
  EXPECT_TRUE(is_backend_range("gloo:all_reduce"));
  EXPECT_TRUE(is_backend_range("nccl:all_reduce"));
  EXPECT_FALSE(is_backend_range("forward"));
}

}  // namespace
}  // namespace plumbline::checks
