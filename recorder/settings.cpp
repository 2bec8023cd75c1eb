#include "recorder/settings.hpp"

#include <unistd.h>

#include <array>
#include <charconv>
#include <cstring>
#include <optional>
#include <string_view>

#include "recorder/capture_plan.hpp"
#include "recorder/small_file.hpp"
#include "recorder/toml.hpp"

namespace plumbline::recorder {
namespace {

// One row a setting: the variable is PLUMBLINE_<NAME>, the key of the file <name>.
struct Setting {
  std::string_view name;
  // False: the value was not understood.
  bool (*apply)(Settings& settings, std::string_view value);
  std::string_view expects;
};

bool parse_number(std::string_view text, std::uint64_t& out, std::uint64_t unit, std::uint64_t least) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return false;
  if (value < least || value > (std::uint64_t{1} << 46) / unit) return false;
  out = value * unit;
  return true;
}

bool parse_flag(std::string_view text, bool& out) {
  out = text == "1" || text == "true";
  return out || text == "0" || text == "false" || text.empty();
}

constexpr auto kSettings = std::to_array<Setting>({
    {"RUN", [](Settings& s, std::string_view v) { return s.run_directory = v, !v.empty(); }, "a directory"},
    {"DIR", [](Settings& s, std::string_view v) { return s.base_directory = v, !v.empty(); }, "a directory"},
    {"CONFIG", [](Settings& s, std::string_view v) { return s.config_file = v, true; }, "a file"},
    {"ADAPTER", [](Settings& s, std::string_view v) { return s.adapter = v, true; }, "a file"},
    {"CACHE", [](Settings& s, std::string_view v) { return s.cache = v, true; }, "a directory"},
    {"EXCLUDE", [](Settings& s, std::string_view v) { return s.exclude = v, true; }, "patterns"},
    {"LEVEL",
     [](Settings& s, std::string_view v) {
       const auto level = parse_level(v);
       if (level) s.level = *level;
       return level.has_value();
     },
     "off, watch or diagnose"},
    {"DISABLE", [](Settings& s, std::string_view v) { return parse_flag(v, s.disabled); }, "0 or 1"},
    {"RING_KB", [](Settings& s, std::string_view v) { return parse_number(v, s.ring_bytes, 1 << 10, 1); },
     "a number of KiB from 1"},
    {"MEMORY_MB", [](Settings& s, std::string_view v) { return parse_number(v, s.memory_bytes, 1 << 20, 1); },
     "a number of MiB from 1"},
    {"MAX_MB", [](Settings& s, std::string_view v) { return parse_number(v, s.max_trace_bytes, 1 << 20, 1); },
     "a number of MiB from 1"},
    {"CAPTURE_MAX_MB", [](Settings& s, std::string_view v) { return parse_number(v, s.max_capture_bytes, 1 << 20, 1); },
     "a number of MiB from 1"},
    {"CAPTURE_STEPS",
     [](Settings& s, std::string_view v) {
       const bool understood = CapturePlan::understands_steps(v);
       if (understood) s.capture_steps = v;
       return understood;
     },
     "steps such as 0-2,%200, or all, or none"},
    {"CAPTURE",
     [](Settings& s, std::string_view v) {
       const bool understood = CapturePlan::understands_amounts(v);
       if (understood) s.capture = v;
       return understood;
     },
     "amounts such as grad=full,param=sample:16+hash,state=none"},
    {"TEMPLATE", [](Settings& s, std::string_view v) { return s.probe_template = v, true; }, "a file"},
    {"NANFILL", [](Settings& s, std::string_view v) { return parse_flag(v, s.nan_fill); }, "0 or 1"},
    {"FLUSH_MS", [](Settings& s, std::string_view v) { return parse_number(v, s.flush_ms, 1, 1); },
     "a number of milliseconds from 1"},
    {"STALL_SECONDS", [](Settings& s, std::string_view v) { return parse_number(v, s.stall_ns, 1'000'000'000, 0); },
     "a number of seconds, 0 for never"},
    {"LARGE_ALLOCATION_MB",
     [](Settings& s, std::string_view v) { return parse_number(v, s.large_allocation_bytes, 1 << 20, 0); },
     "a number of MiB, 0 for none"},
});

// Variables of the project's tools, not of the recorder.
constexpr auto kForeign = std::to_array<std::string_view>({"PYTHON", "BUILD"});
constexpr std::string_view kPrefix = "PLUMBLINE_";

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return out;
}

void apply(Settings& settings, const Setting& setting, std::string_view value, const std::string& shown) {
  if (setting.apply(settings, value)) return;
  settings.complaints.push_back(shown + "=" + std::string(value) + " was not understood: it takes " +
                                std::string(setting.expects) + "; the default stays");
}

using Environment = std::vector<std::string_view>;

// Empty when it is not there.
std::string value_of(const Environment& environment, std::string_view name) {
  for (const std::string_view text : environment) {
    if (text.size() > name.size() && text.starts_with(name) && text[name.size()] == '=') {
      return std::string(text.substr(name.size() + 1));
    }
  }
  return {};
}

void read_environment(Settings& settings, const Environment& environment) {
  for (const std::string_view text : environment) {
    if (!text.starts_with(kPrefix)) continue;
    const std::size_t equals = text.find('=');
    if (equals == std::string_view::npos) continue;
    const std::string_view variable = text.substr(0, equals);
    const std::string_view name = variable.substr(kPrefix.size());
    bool known = false;
    for (const std::string_view foreign : kForeign) known = known || foreign == name;
    for (const Setting& setting : kSettings) {
      if (setting.name != name) continue;
      known = true;
      apply(settings, setting, text.substr(equals + 1), std::string(variable));
    }
    if (!known) settings.complaints.push_back(std::string(variable) + " is not a setting of Plumbline");
  }
}

void read_config(Settings& settings, const std::string& path) {
  if (path.empty()) return;
  const auto text = read_small_file(path.c_str(), 1 << 20);
  if (!text) {
    settings.complaints.push_back("cannot read the settings file " + path + ": " + std::strerror(errno));
    return;
  }
  std::string error;
  for (const auto& [key, value] : parse_toml_pairs(*text, error)) {
    bool known = false;
    for (const Setting& setting : kSettings) {
      if (lower(setting.name) != key || key == "config") continue;
      known = true;
      apply(settings, setting, value, key);
    }
    if (!known) settings.complaints.push_back(path + ": " + key + " is not a setting of Plumbline");
  }
  if (!error.empty()) settings.complaints.push_back(path + ": " + error);
}

}  // namespace

std::optional<Level> parse_level(std::string_view text) noexcept {
  if (text == "off") return Level::kOff;
  if (text == "watch") return Level::kWatch;
  if (text == "diagnose") return Level::kDiagnose;
  return std::nullopt;
}

std::string_view level_name(Level level) noexcept {
  switch (level) {
    case Level::kOff:
      return "off";
    case Level::kWatch:
      return "watch";
    case Level::kDiagnose:
      return "diagnose";
  }
  return "off";
}

Settings load_settings() noexcept {
  Environment environment;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) environment.emplace_back(*entry);
  return load_settings(environment);
}

Settings load_settings(const Environment& environment) noexcept {
  Settings settings;
  read_config(settings, value_of(environment, "PLUMBLINE_CONFIG"));
  read_environment(settings, environment);
  if (!settings.probe_template.empty()) settings.probes = read_template(settings.probe_template, settings.complaints);
  if (settings.cache.empty()) {
    const std::string base = value_of(environment, "XDG_CACHE_HOME");
    const std::string home = value_of(environment, "HOME");
    if (!base.empty()) {
      settings.cache = base + "/plumbline";
    } else if (!home.empty()) {
      settings.cache = home + "/.cache/plumbline";
    }
  }
  return settings;
}

}  // namespace plumbline::recorder
