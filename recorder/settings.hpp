// The settings in force in a recording process: PLUMBLINE_* variables over a TOML file (PLUMBLINE_CONFIG) over
// defaults.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "recorder/level.hpp"
#include "recorder/probe_template.hpp"

namespace plumbline::recorder {

struct Settings {
  std::string run_directory;    // PLUMBLINE_RUN: exactly this directory
  std::string base_directory;   // PLUMBLINE_DIR: else a directory of the launch's name in here
  std::string config_file;      // PLUMBLINE_CONFIG
  std::string adapter;          // PLUMBLINE_ADAPTER: path of the torch adapter; else looked up in the cache
  std::string cache;            // PLUMBLINE_CACHE; else $XDG_CACHE_HOME/plumbline or ~/.cache/plumbline
  std::string exclude;          // PLUMBLINE_EXCLUDE: fnmatch patterns, comma-separated, on the process's program name
  Level level = Level::kWatch;  // PLUMBLINE_LEVEL
  bool disabled = false;        // PLUMBLINE_DISABLE=1
  std::uint64_t ring_bytes = 4 << 20;  // PLUMBLINE_RING_KB: a ring of the first eight threads; later ones get an eighth
  std::uint64_t memory_bytes = 64 << 20;  // PLUMBLINE_MEMORY_MB: all rings together
  std::uint64_t max_trace_bytes =
      2ull << 30;  // PLUMBLINE_MAX_MB: compressed trace of this rank; oldest frames go first
  std::uint64_t max_capture_bytes = 8ull << 30;    // PLUMBLINE_CAPTURE_MAX_MB: captured tensors of this rank
  std::string capture_steps;                       // PLUMBLINE_CAPTURE_STEPS, see recorder/capture_plan.hpp
  std::string capture;                             // PLUMBLINE_CAPTURE: how much of each probe
  bool nan_fill = false;                           // PLUMBLINE_NANFILL=1: NaN in parameters before they are loaded
  std::string probe_template;                      // PLUMBLINE_TEMPLATE: a file, see recorder/probe_template.hpp
  ProbeTemplate probes;                            // what it says
  std::uint64_t stall_ns = 60'000'000'000;         // PLUMBLINE_STALL_SECONDS: silence of the training thread, 0 never
  std::uint64_t large_allocation_bytes = 1 << 30;  // PLUMBLINE_LARGE_ALLOCATION_MB: requests with stacks, 0 none
  std::uint64_t flush_ms = 10'000;                 // PLUMBLINE_FLUSH_MS: events wait in the ring at most this long
  std::vector<std::string> complaints;             // settings that were not understood, one sentence each
};

std::optional<Level> parse_level(std::string_view text) noexcept;
std::string_view level_name(Level level) noexcept;

// Reads environment and file. Never throws; what is wrong becomes a complaint and the default stays.
Settings load_settings() noexcept;
// The same from another process's environment, NAME=VALUE each.
Settings load_settings(const std::vector<std::string_view>& environment) noexcept;

}  // namespace plumbline::recorder
