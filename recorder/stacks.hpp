// A thread's stack as it goes into the trace: Python frames by the ids of their texts, native frames by their program
// counters alone, and the modules that the reader resolves those by.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace plumbline::recorder {

enum class StackReason : std::uint8_t {
  kStall = 0,             // no event of the training thread has completed for long; detail: nanoseconds since the last
  kFatalSignal = 1,       // detail: the signal
  kLargeAllocation = 2,   // detail: bytes
  kFailedAllocation = 3,  // detail: bytes
  kImported = 4,
};

// Bits of StackDetails::flags.
enum StackFlags : std::uint32_t {
  kHoldsInterpreterLock = 1u << 0,
  kTrainingThread = 1u << 1,
  kIdle = 1u << 2,
};

struct StackFrameDetails {
  std::uint64_t pc = 0;
  std::uint64_t function = 0;  // text, 0 not known
  std::uint64_t file = 0;      // text, 0 not known
  std::uint32_t line = 0;
};

struct StackDetails {
  std::uint64_t time_ns = 0;
  std::uint32_t tid = 0;
  std::string thread_name;
  StackReason reason = StackReason::kStall;
  std::uint64_t detail = 0;
  std::vector<StackFrameDetails> python;  // innermost first
  std::vector<StackFrameDetails> native;
  std::uint32_t flags = 0;
};

struct ModuleDetails {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::uint64_t file_offset = 0;
  std::string path;
  std::string build_id;  // hexadecimal, empty when the file has none
};

}  // namespace plumbline::recorder
