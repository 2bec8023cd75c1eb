#include "shim/nccl/nccl_functions.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "shim/core/activation.hpp"
#include "shim/nccl/nccl_abi.hpp"

// The wrapper itself, which this program carries.
extern "C" int ncclGetVersion(void* version) noexcept;

namespace plumbline::shim::nccl {
namespace {

TEST(NcclFunctions, HaveTheirNames) {
  EXPECT_STREQ(name_of(kAllReduce), "ncclAllReduce");
  EXPECT_STREQ(name_of(kGroupSimulateEnd), "ncclGroupSimulateEnd");
}

TEST(NcclFunctions, HaveACounterEachAsFarAsThereAreCounters) {
  std::set<unsigned> taken;
  for (unsigned number = 0; number < kFunctionCount; ++number) {
    const unsigned hook = hook_of(static_cast<Function>(number));
    EXPECT_LT(hook, kHookCounters);
    EXPECT_TRUE(hook == kHookNccl || taken.insert(hook).second) << name_of(static_cast<Function>(number));
  }
  EXPECT_GE(taken.size(), 40u);
  EXPECT_GE(*taken.begin(), unsigned{kHookCount});
  EXPECT_EQ(hook_of(static_cast<Function>(1000)), unsigned{kHookNccl});
}

TEST(NcclFunctions, WithoutNcclAWrapperGivesNcclsError) {
  const Gate before = gate.exchange(Gate::kClosed);  // this program is no training job
  int version = 1;
  EXPECT_EQ(ncclGetVersion(&version), int{kSystemError});
  EXPECT_EQ(version, 1);
  EXPECT_EQ(real_function(kAllReduce, nullptr), nullptr);
  gate = before;
}

}  // namespace
}  // namespace plumbline::shim::nccl
