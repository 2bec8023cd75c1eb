// From "loaded into some process" to "recording a training job". Loading does nothing but read a few environment
// words; the first hook that fires decides.
//
//   if (!is_open()) open_for(Evidence::kAllocation);   // slow path, once
//
// A forked child starts closed again, and only training evidence opens it: data-loader workers allocate tensors all
// day and must stay unrecorded.
#pragma once

#include <atomic>
#include <cstdint>
#include <string_view>

#include "recorder/settings.hpp"

namespace plumbline::shim {

enum class Gate : std::uint8_t {
  kUntried,  // no hook has fired yet
  kOpening,  // one thread is starting the recorder; the others pass by
  kOpen,     // the recorder was started (it may have stopped since: its functions then do nothing)
  kForked,   // a forked child of a recording process: waits for training evidence
  kRefused,  // nothing can be recorded here, and a process that trains has yet to be told so
  kClosed,   // switched off, excluded, or told
};

enum class Evidence : std::uint8_t { kAllocation, kTraining };

inline constinit std::atomic<Gate> gate{Gate::kUntried};

inline bool is_open() noexcept { return gate.load(std::memory_order_relaxed) == Gate::kOpen; }

// Starts the recorder if this process may record and `evidence` suffices. True when the gate is open afterwards.
bool open_for(Evidence evidence) noexcept;

// The process trains: opens the gate if need be and gives the trace its name. `why` is kept as a fact.
bool open_for_training(const char* why) noexcept;

// The settings that recording was started with.
const recorder::Settings& settings_in_force() noexcept;

// Whether one of the comma-separated fnmatch patterns matches the program's name.
bool excluded_by(const char* patterns, const char* program) noexcept;

}  // namespace plumbline::shim
