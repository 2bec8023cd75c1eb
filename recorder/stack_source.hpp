// Who takes stacks of this process for its recording: the shim, which knows how. The recorder says when.
#pragma once

#include <cstdint>

#include "recorder/definitions.hpp"

namespace plumbline::recorder {

// All functions are called in the writer thread.
struct StackSource {
  // Of all threads, because the training thread has done nothing for so long.
  void (*take_all)(std::uint64_t stalled_ns, std::uint32_t training_thread, Definitions& to);
  // Those that threads have left for the writer since: of a large allocation, of a fatal signal. Cheap when there are
  // none. True: they belong on disk at once; left_written() then says that they are there.
  bool (*take_left)(Definitions& to);
  void (*left_written)();
};

// Before start(). The source is never let go of.
void set_stack_source(const StackSource& source) noexcept;

}  // namespace plumbline::recorder
