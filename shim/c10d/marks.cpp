#include "shim/c10d/marks.hpp"

#include <atomic>
#include <string>

namespace plumbline::shim {

void report_forgotten() noexcept {
  static constinit std::atomic<std::uint64_t> reported{0};
  const std::uint64_t forgotten = works.forgotten() + pending_calls.forgotten();
  // At each doubling, so that a job which leaves thousands of calls open does not fill its trace with this.
  if (forgotten < reported.load(std::memory_order_relaxed) * 2 || forgotten == 0) return;
  reported.store(forgotten, std::memory_order_relaxed);
  recorder::fact("c10d.calls_without_end", "at least " + std::to_string(forgotten));
}

}  // namespace plumbline::shim
