#include "recorder/hook_table.hpp"

#include <utility>

namespace plumbline::recorder {

void HookTable::set(unsigned hook, std::string_view name, bool active, std::string_view detail) {
  if (hook >= kMostHooks) return;
  const std::lock_guard lock(mutex_);
  State& state = states_[hook];
  state.name = name;
  state.detail = detail;
  state.known = true;
  state.active = active;
  changed_ = true;
}

std::vector<HookCountRow> HookTable::rows(const RingMap& rings) {
  const std::lock_guard lock(mutex_);
  std::vector<HookCountRow> rows;
  for (unsigned hook = 0; hook < kMostHooks; ++hook) {
    const State& state = states_[hook];
    const std::uint64_t fired = rings.hook_total(hook);
    if (!state.known && fired == 0) continue;
    rows.push_back({state.known ? state.name : "hook " + std::to_string(hook), state.active || !state.known, fired,
                    state.detail, hook});
  }
  return rows;
}

bool HookTable::changed(const RingMap& rings) {
  const std::lock_guard lock(mutex_);
  bool changed = std::exchange(changed_, false);
  for (unsigned hook = 0; hook < kMostHooks; ++hook) {
    if (states_[hook].fired || rings.hook_total(hook) == 0) continue;
    states_[hook].fired = true;
    changed = true;
  }
  return changed;
}

}  // namespace plumbline::recorder
