// Our declarations of CUPTI's interface, against the real header where the build has one.
#include "shim/cupti/cupti_abi.hpp"

#include <gtest/gtest.h>

#if __has_include(<cupti.h>)
#include <cupti.h>
#endif

namespace plumbline::shim::cupti {
namespace {

#ifdef CUPTI_API_VERSION
#define EXPECT_SAME_PLACE(ours, our_member, theirs, their_member) \
  EXPECT_EQ(offsetof(ours, our_member), offsetof(theirs, their_member))

TEST(CuptiAbi, KindsAreThoseOfTheHeader) {
  EXPECT_EQ(kMemcpy, CUPTI_ACTIVITY_KIND_MEMCPY);
  EXPECT_EQ(kMemset, CUPTI_ACTIVITY_KIND_MEMSET);
  EXPECT_EQ(kConcurrentKernel, CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
  EXPECT_EQ(kMemcpyPeer, CUPTI_ACTIVITY_KIND_MEMCPY2);
  EXPECT_EQ(kExternalCorrelation, CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION);
  EXPECT_EQ(kCustomCorrelation, CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0);
  EXPECT_EQ(kFlushForced, CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
  EXPECT_EQ(kSuccess, CUPTI_SUCCESS);
}

TEST(CuptiAbi, RecordsHaveTheirFieldsInPlace) {
  EXPECT_SAME_PLACE(KernelRecord, start, CUpti_ActivityKernel10, start);
  EXPECT_SAME_PLACE(KernelRecord, device, CUpti_ActivityKernel10, deviceId);
  EXPECT_SAME_PLACE(KernelRecord, stream, CUpti_ActivityKernel10, streamId);
  EXPECT_SAME_PLACE(KernelRecord, correlation, CUpti_ActivityKernel10, correlationId);
  EXPECT_SAME_PLACE(KernelRecord, name, CUpti_ActivityKernel10, name);
  EXPECT_SAME_PLACE(CopyRecord, copy_kind, CUpti_ActivityMemcpy6, copyKind);
  EXPECT_SAME_PLACE(CopyRecord, bytes, CUpti_ActivityMemcpy6, bytes);
  EXPECT_SAME_PLACE(CopyRecord, stream, CUpti_ActivityMemcpy6, streamId);
  EXPECT_SAME_PLACE(CopyRecord, correlation_or_source, CUpti_ActivityMemcpy6, correlationId);
  EXPECT_SAME_PLACE(CopyRecord, stream, CUpti_ActivityMemcpyPtoP4, streamId);
  EXPECT_SAME_PLACE(CopyRecord, peer_correlation, CUpti_ActivityMemcpyPtoP4, correlationId);
  EXPECT_SAME_PLACE(MemsetRecord, bytes, CUpti_ActivityMemset4, bytes);
  EXPECT_SAME_PLACE(MemsetRecord, stream, CUpti_ActivityMemset4, streamId);
  EXPECT_SAME_PLACE(MemsetRecord, correlation, CUpti_ActivityMemset4, correlationId);
  EXPECT_SAME_PLACE(CorrelationRecord, external, CUpti_ActivityExternalCorrelation, externalId);
  EXPECT_SAME_PLACE(CorrelationRecord, correlation, CUpti_ActivityExternalCorrelation, correlationId);
  EXPECT_EQ(kBufferAlignment, ACTIVITY_RECORD_ALIGNMENT);
}
#endif

}  // namespace
}  // namespace plumbline::shim::cupti
