// Ranges (at::RecordFunction scopes: forward, zero_grad, data loading, the user's own), begin paired with end.
#pragma once

#include <cstdint>
#include <functional>
#include <unordered_map>
#include <vector>

#include "reader/batch.hpp"
#include "reader/trace.hpp"

namespace plumbline::reader {

struct Range {
  std::uint64_t name = 0;  // text
  std::uint64_t handle = 0;
  std::uint64_t begin_ns = 0;  // 0: the begin was dropped or evicted
  std::uint64_t end_ns = 0;    // 0: the process ended inside
  std::uint32_t depth = 0;
  std::uint32_t scope = 0;
  std::uint32_t ring = 0;  // thread that began it
  Place place;

  // An operator of a diagnosis run ("aten::mm …"), which is observed like a range.
  bool is_operator() const { return scope == kOperatorScope; }
  static constexpr std::uint32_t kOperatorScope = 0;  // at::RecordScope::FUNCTION
};

// Feed it every frame with kRanges; a range is emitted at its end.
class RangeJoin {
 public:
  using Visit = std::function<void(const Range&)>;
  void add(const FrameView& frame, const Visit& visit);
  void finish(const Visit& visit);  // those that never ended

 private:
  std::unordered_map<std::uint64_t, Range> open_;
};

// `visit` returns false to stop.
void read_ranges(const Trace& trace, const Query& window, const std::function<bool(const Range&)>& visit);

}  // namespace plumbline::reader
