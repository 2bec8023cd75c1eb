// What a rank did while the others waited for it: between its last collective and the one that it came late to.
#pragma once

#include <cstdint>
#include <string>

#include "checks/straggler_steps.hpp"
#include "checks/subject.hpp"

namespace plumbline::checks {

enum class GapKind : std::uint8_t {
  kUnknown,  // the gap's beginning is not known
  kGarbage,  // a collection of Python's garbage
  kSilent,   // nothing that is hooked went on: code outside of PyTorch, I/O, sleep
  kDataLoader,
  kRange,      // in a range that says what it is
  kComputing,  // tensors were made and freed
};

struct Gap {
  GapKind kind = GapKind::kUnknown;
  std::int64_t length = 0;      // nanoseconds
  std::int64_t silent = 0;      // the longest stretch without any record
  std::int64_t collecting = 0;  // of it, Python's garbage
  std::uint64_t allocations = 0;
  std::string range;  // the innermost that fills most of the gap

  // "in 300.0 ms before the call nothing was recorded for 298.2 ms: …", without the rank.
  std::string text() const;
};

Gap look_at_gap(const Subject& subject, const LateCall& late);

}  // namespace plumbline::checks
