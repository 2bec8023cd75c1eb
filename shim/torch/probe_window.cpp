#include "shim/torch/probe_window.hpp"

#include <atomic>
#include <map>
#include <mutex>
#include <utility>

#include "recorder/json_text.hpp"
#include "shim/torch/collective_window.hpp"
#include "shim/torch/device_collectives.hpp"
#include "shim/torch/glue.hpp"
#include "shim/torch/host.hpp"
#include "shim/torch/module_path.hpp"
#include "shim/torch/operators.hpp"
#include "shim/torch/step_numbers.hpp"

namespace plumbline::shim::adapter {
namespace {

std::atomic<std::int64_t> open_step{-1};

struct Counts {
  std::mutex lock;
  std::map<std::pair<std::string, std::string>, std::uint32_t> seen;  // in this step
  std::map<std::string, std::uint64_t> fired;
};
// Never destroyed: a thread of the job may capture during static destruction.
Counts& counts() {
  static auto* const made = new Counts;
  return *made;
}

bool is_diagnosis() noexcept { return host().active() && host().level() == recorder::Level::kDiagnose; }

// Once, when a diagnosis begins.
void install_probes() noexcept {
  static bool installed = false;
  if (installed) return;
  installed = true;
  call_glue("install_probes", Ref(python()->Py_BuildValue("()")));
}

void open_window(std::int64_t step) noexcept {
  const bool was_open = open_step.exchange(step) >= 0;
  const bool is_open = step >= 0;
  forget_modules();
  {
    const std::lock_guard hold(counts().lock);
    counts().seen.clear();
  }
  if (was_open == is_open) return;
  observe_operators(is_open);
  call_glue("follow_modules", Ref(python()->Py_BuildValue("(i)", is_open ? 1 : 0)));
}

}  // namespace

std::int64_t window_step() noexcept { return open_step.load(std::memory_order_relaxed); }

void move_window() noexcept {
  const std::int64_t step = host().active() ? next_step_number() : -1;
  const bool chosen = step >= 0 && host().capture_step(step);
  open_collectives(chosen ? step : -1);
  write_device_calls();
  if (!is_diagnosis()) {
    if (window_step() >= 0) open_window(-1);
    return;
  }
  install_probes();
  open_window(chosen ? step : -1);
}

std::uint32_t next_occurrence(const std::string& probe, const std::string& name) {
  const std::lock_guard hold(counts().lock);
  return counts().seen[{probe, name}]++;
}

void count_probe(const std::string& probe) {
  const std::lock_guard hold(counts().lock);
  ++counts().fired[probe];
}

std::string probe_counts() {
  const std::lock_guard hold(counts().lock);
  std::string text = "{";
  for (const auto& [probe, count] : counts().fired) {
    text += (text.size() > 1 ? "," : "") + recorder::json_text(probe) + ":" + std::to_string(count);
  }
  return text + "}";
}

}  // namespace plumbline::shim::adapter
