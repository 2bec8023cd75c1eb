// What is known of each hook: its name, whether it is installed, and why not. Safe from any thread; rarely written.
#pragma once

#include <array>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "recorder/definitions.hpp"
#include "recorder/ring_map.hpp"

namespace plumbline::recorder {

inline constexpr unsigned kMostHooks = 64;

class HookTable {
 public:
  void set(unsigned hook, std::string_view name, bool active, std::string_view detail);

  // The rows of a Hooks message with their counts.
  std::vector<HookCountRow> rows(const RingMap& rings);

  // True when, since the last call, a state was set or a hook fired for the first time: when a Hooks message is due.
  bool changed(const RingMap& rings);

 private:
  struct State {
    std::string name, detail;
    bool known = false;
    bool active = false;
    bool fired = false;
  };
  std::mutex mutex_;
  std::array<State, kMostHooks> states_;
  bool changed_ = false;
};

}  // namespace plumbline::recorder
