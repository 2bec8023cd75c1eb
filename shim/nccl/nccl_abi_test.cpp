// Our declarations of NCCL's interface, against the real header where the build has one.
#include "shim/nccl/nccl_abi.hpp"

#include <gtest/gtest.h>

#if __has_include(<nccl.h>)
#include <nccl.h>
#endif

namespace plumbline::shim::nccl {
namespace {

using recorder::Dtype;
using recorder::ReduceOp;

TEST(NcclAbi, ValuesThatNoNcclHasAreUnknown) {
  EXPECT_EQ(dtype_of(-1), Dtype::kUnknown);
  EXPECT_EQ(dtype_of(12), Dtype::kUnknown);
  EXPECT_EQ(reduce_op_of(-1), ReduceOp::kNone);
  EXPECT_EQ(reduce_op_of(5), ReduceOp::kPremulSum);
  EXPECT_EQ(reduce_op_of(500), ReduceOp::kPremulSum);
}

TEST(NcclAbi, ANameIsReadOnlyFromAConfigurationThatHasOne) {
  NcclConfig config{};
  config.size = sizeof config;
  config.magic = kConfigMagic;
  config.version = 22800;
  config.comm_name = "tensor parallel";
  EXPECT_STREQ(comm_name(&config), "tensor parallel");
  EXPECT_EQ(comm_name(nullptr), nullptr);

  NcclConfig older = config;
  older.version = 22605;
  EXPECT_EQ(comm_name(&older), nullptr) << "the field is something else there";
  NcclConfig shorter = config;
  shorter.size = offsetof(NcclConfig, comm_name);
  EXPECT_EQ(comm_name(&shorter), nullptr) << "the caller's structure ends before it";
  NcclConfig foreign = config;
  foreign.magic = 1;
  EXPECT_EQ(comm_name(&foreign), nullptr) << "not initialised";
}

#if __has_include(<nccl.h>)
static_assert(sizeof(NcclUniqueId) == sizeof(ncclUniqueId));
static_assert(int{kSuccess} == int{ncclSuccess} && int{kSystemError} == int{ncclSystemError} &&
              int{kInProgress} == int{ncclInProgress});
static_assert(kBuiltinReduceOps == int{ncclNumOps} && kNoColor == NCCL_SPLIT_NOCOLOR);
static_assert(offsetof(NcclConfig, version) == offsetof(ncclConfig_t, version));
static_assert(offsetof(NcclConfig, comm_name) == offsetof(ncclConfig_t, commName));
static_assert(sizeof(ncclDataType_t) == sizeof(int) && sizeof(ncclRedOp_t) == sizeof(int));

TEST(NcclAbi, DataTypesAreTheHeaders) {
  EXPECT_EQ(dtype_of(ncclInt8), Dtype::kInt8);
  EXPECT_EQ(dtype_of(ncclUint8), Dtype::kUint8);
  EXPECT_EQ(dtype_of(ncclInt32), Dtype::kInt32);
  EXPECT_EQ(dtype_of(ncclUint32), Dtype::kUint32);
  EXPECT_EQ(dtype_of(ncclInt64), Dtype::kInt64);
  EXPECT_EQ(dtype_of(ncclUint64), Dtype::kUint64);
  EXPECT_EQ(dtype_of(ncclFloat16), Dtype::kFloat16);
  EXPECT_EQ(dtype_of(ncclFloat32), Dtype::kFloat32);
  EXPECT_EQ(dtype_of(ncclFloat64), Dtype::kFloat64);
  EXPECT_EQ(dtype_of(ncclBfloat16), Dtype::kBfloat16);
  EXPECT_EQ(dtype_of(ncclFloat8e4m3), Dtype::kFloat8E4m3);
  EXPECT_EQ(dtype_of(ncclFloat8e5m2), Dtype::kFloat8E5m2);
}

TEST(NcclAbi, OperatorsAreTheHeaders) {
  EXPECT_EQ(reduce_op_of(ncclSum), ReduceOp::kSum);
  EXPECT_EQ(reduce_op_of(ncclProd), ReduceOp::kProd);
  EXPECT_EQ(reduce_op_of(ncclMax), ReduceOp::kMax);
  EXPECT_EQ(reduce_op_of(ncclMin), ReduceOp::kMin);
  EXPECT_EQ(reduce_op_of(ncclAvg), ReduceOp::kAvg);
}

TEST(NcclAbi, AConfigurationOfTheHeaderGivesItsName) {
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  EXPECT_EQ(comm_name(&config), nullptr);
  config.commName = "pipeline";
  EXPECT_STREQ(comm_name(&config), "pipeline");
}
#endif

}  // namespace
}  // namespace plumbline::shim::nccl
