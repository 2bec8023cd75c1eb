// A host that keeps what the adapter's parts hand over, for tests without the preload object.
//
//   FakeHost host;               // the adapter's host for as long as it lives; one at a time
//   host.wish = {0, 4, true, false};
//   capture_tensor(tensor, target);
//   EXPECT_EQ(host.captures.front().shape, …);
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "shim/adapter_api.hpp"

namespace plumbline::shim::adapter::testing {

// recorder::Capture with all that it borrows.
struct KeptCapture {
  std::string probe;
  std::string name;
  std::int64_t step = -1;
  std::uint32_t occurrence = 0;
  std::uint64_t key = 0;
  recorder::Dtype dtype = recorder::Dtype::kUnknown;
  recorder::CaptureAmount amount = recorder::CaptureAmount::kNote;
  recorder::CaptureHash hash_kind = recorder::CaptureHash::kNone;
  std::uint64_t hash = 0;
  std::vector<std::uint64_t> shape;
  std::vector<std::uint64_t> global_shape;
  std::vector<std::uint64_t> offset;
  std::vector<std::int32_t> replicas;
  std::string device;
  std::vector<std::uint64_t> indices;
  std::vector<std::uint8_t> data;
  std::string detail;
  std::vector<std::uint64_t> blocks;
  std::vector<recorder::CaptureStatistics> statistics;  // none or one
};

class FakeHost {
 public:
  FakeHost();
  ~FakeHost();
  FakeHost(const FakeHost&) = delete;
  FakeHost& operator=(const FakeHost&) = delete;

  bool active = true;
  recorder::Level level = recorder::Level::kWatch;
  recorder::CaptureWish wish{};  // of every probe

  std::vector<KeptCapture> captures;
  std::map<std::string, std::string> facts;
  std::vector<std::pair<recorder::Counter, std::int64_t>> samples;
};

// What the host makes of bytes, for hashes.
std::uint64_t hash_of(const void* data, std::size_t bytes) noexcept;

}  // namespace plumbline::shim::adapter::testing
