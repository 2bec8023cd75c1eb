// The marks of a collective's life, and the tables that say which call a work object belongs to.
#pragma once

#include <cstdint>

#include "recorder/recorder.hpp"
#include "shim/c10d/pending_calls.hpp"

namespace plumbline::shim {

inline constinit WorkTable works;
inline constinit PendingCalls pending_calls;

// Says in the trace that calls lost their end marks because too many were open at a time. Cheap when there are none.
void report_forgotten() noexcept;

// Returns the time that the mark bears.
inline std::uint64_t push_mark(recorder::Kind kind, std::uint64_t call,
                               recorder::Outcome outcome = recorder::Outcome::kPending) noexcept {
  const std::uint64_t now = recorder::now_ns();
  const recorder::CollectiveMarkRecord mark{
      {now, kind, recorder::slots_of<recorder::CollectiveMarkRecord>(), 0, static_cast<std::uint32_t>(outcome)},
      call,
      0};
  recorder::push(mark.header);
  return now;
}

}  // namespace plumbline::shim
