#include "shim/cupti/device_work.hpp"

#include <gtest/gtest.h>

#include <memory>

namespace plumbline::shim::cupti {
namespace {

using recorder::DeviceWork;

template <class Made>
const Record& as_record(const Made& made) {
  return reinterpret_cast<const Record&>(made);
}

KernelRecord kernel(std::uint32_t correlation) {
  KernelRecord record{};
  record.kind = kConcurrentKernel;
  record.start = 1000;
  record.end = 1500;
  record.device = 3;
  record.stream = 9;
  record.correlation = correlation;
  record.name = "gemm";
  return record;
}

CorrelationRecord launched_by(std::uint64_t id, std::uint32_t correlation) {
  CorrelationRecord record{};
  record.kind = kExternalCorrelation;
  record.external_kind = kCustomCorrelation;
  record.external = id;
  record.correlation = correlation;
  return record;
}

TEST(DeviceWorks, AKernelHasItsTimesDeviceStreamAndParent) {
  auto works = std::make_unique<DeviceWorks>();
  EXPECT_FALSE(works->take(as_record(launched_by(77, 5))).has_value());
  const auto event = works->take(as_record(kernel(5)));
  ASSERT_TRUE(event.has_value());
  EXPECT_EQ(event->header.time_ns, 1000u);
  EXPECT_EQ(event->duration_ns, 500u);
  EXPECT_EQ(event->header.tag, static_cast<std::uint32_t>(DeviceWork::kKernel) | 3u << 8);
  EXPECT_EQ(event->stream, 9u);
  EXPECT_EQ(event->parent, 77u);
  EXPECT_EQ(works->take(as_record(kernel(6)))->parent, 0u) << "of another launch";
}

TEST(DeviceWorks, SomebodyElsesCorrelationIsNotOurs) {
  auto works = std::make_unique<DeviceWorks>();
  CorrelationRecord foreign = launched_by(77, 5);
  foreign.external_kind = kCustomCorrelation + 1;
  works->take(as_record(foreign));
  EXPECT_EQ(works->take(as_record(kernel(5)))->parent, 0u);
}

TEST(DeviceWorks, CopiesAndMemorySetsHaveTheirBytes) {
  auto works = std::make_unique<DeviceWorks>();
  CopyRecord copy{};
  copy.kind = kMemcpy;
  copy.copy_kind = 2;
  copy.bytes = 4096;
  copy.correlation_or_source = 8;
  works->take(as_record(launched_by(5, 8)));
  const auto event = works->take(as_record(copy));
  ASSERT_TRUE(event.has_value());
  EXPECT_EQ(event->bytes, 4096u);
  EXPECT_EQ(event->parent, 5u);
  EXPECT_EQ(event->header.tag >> 16 & 0xff, 2u);
  MemsetRecord set{};
  set.kind = kMemset;
  set.bytes = 12;
  EXPECT_EQ(works->take(as_record(set))->bytes, 12u);
}

TEST(DeviceWorks, WhatWasNotAskedForIsLeftOut) {
  auto works = std::make_unique<DeviceWorks>();
  const Record unknown{12345};
  EXPECT_FALSE(works->take(unknown).has_value());
}

}  // namespace
}  // namespace plumbline::shim::cupti
