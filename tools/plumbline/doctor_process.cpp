// The doctor's look at a running process, from what the kernel tells of it.
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <sstream>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "recorder/settings.hpp"
#include "shim/adapter_path.hpp"
#include "tools/plumbline/doctor.hpp"
#include "tools/plumbline/file_text.hpp"
#include "tools/plumbline/preload_block.hpp"
#include "tools/run_reader/text.hpp"

namespace plumbline::tools {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPreloadObject = "libplumbline.so";
constexpr std::string_view kRingEnd = ".ring";
constexpr std::string_view kDeleted = " (deleted)";

struct Mapping {
  std::string path;
  std::uint64_t inode = 0;
};

struct Process {
  std::string program;
  std::vector<std::string> environment;
  std::vector<Mapping> mapped;

  std::string variable(std::string_view name) const {
    const std::string start = std::string(name) + "=";
    for (const std::string& entry : environment) {
      if (entry.starts_with(start)) return entry.substr(start.size());
    }
    return "";
  }
  // The first mapped file whose name ends so; without a path when there is none.
  Mapping mapped_like(std::string_view end) const {
    for (const Mapping& mapping : mapped) {
      if (mapping.path.ends_with(end)) return mapping;
    }
    return {};
  }
};

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, separator);) parts.push_back(part);
  return parts;
}

// A line of /proc/PID/maps: "7f00-7f10 r--p 00000000 fe:00 5341431     /lib/libplumbline.so (deleted)".
std::optional<Mapping> parse_mapping(const std::string& line) {
  std::istringstream words(line);
  std::string range;
  std::string access;
  std::string offset;
  std::string device;
  Mapping mapping;
  words >> range >> access >> offset >> device >> mapping.inode >> std::ws;
  std::getline(words, mapping.path);
  if (!mapping.path.starts_with('/')) return std::nullopt;
  if (mapping.path.ends_with(kDeleted)) mapping.path.resize(mapping.path.size() - kDeleted.size());
  return mapping;
}

std::vector<Mapping> mapped_files(const std::string& maps) {
  std::vector<Mapping> files;
  for (const std::string& line : split(maps, '\n')) {
    if (auto mapping = parse_mapping(line)) files.push_back(std::move(*mapping));
  }
  return files;
}

// A ring gets its lasting name by a second link, while the mapping keeps the first one: so it is found by its number.
std::string present_name(const Mapping& mapping) {
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(fs::path(mapping.path).parent_path(), ignored)) {
    struct stat status {};
    if (stat(entry.path().c_str(), &status) == 0 && status.st_ino == mapping.inode) return entry.path().string();
  }
  return "";
}

Process look_at(const fs::path& directory) {
  std::error_code ignored;
  return {fs::read_symlink(directory / "exe", ignored).string(), split(file_text(directory / "environ"), '\0'),
          mapped_files(file_text(directory / "maps"))};
}

void explain_absence(const Process& process, Findings& findings) {
  const std::string preload = process.variable("LD_PRELOAD");
  if (const std::string block = preload_block(process.program); !block.empty()) {
    return findings.problem("preload object", block);
  }
  if (preload.find(kPreloadObject) == std::string::npos) {
    return findings.problem("preload object", "not in the process: it was started without it in LD_PRELOAD");
  }
  findings.problem("preload object",
                   fmt::format("not in the process, although LD_PRELOAD={} names it: is the file there, "
                               "readable, and for this architecture?",
                               preload));
}

void examine_switches(const Process& process, Findings& findings) {
  const recorder::Settings settings = recorder::load_settings({process.environment.begin(), process.environment.end()});
  for (const std::string& complaint : settings.complaints) findings.problem("settings", printable(complaint));
  if (settings.disabled) findings.problem("settings", "PLUMBLINE_DISABLE is set: nothing is recorded");
  if (settings.level == recorder::Level::kOff) findings.problem("settings", "the level is off: nothing is recorded");
  for (const char* name : {"PLUMBLINE_RUN", "PLUMBLINE_DIR", "PLUMBLINE_CONFIG", "PLUMBLINE_EXCLUDE"}) {
    if (const std::string value = process.variable(name); !value.empty()) {
      findings.note("settings", printable(fmt::format("{}={}", name, value)));
    }
  }
}

void examine_recording(const Process& process, Findings& findings) {
  const Mapping mapping = process.mapped_like(kRingEnd);
  if (mapping.path.empty()) {
    return findings.problem("recording", "no ring is mapped: it has not recorded anything, or has stopped");
  }
  const std::string ring = present_name(mapping);
  if (ring.empty()) return findings.problem("recording", fmt::format("its ring {} was deleted", mapping.path));
  const std::string trace = ring.substr(0, ring.size() - kRingEnd.size()) + ".plt";
  if (fs::path(trace).filename().string().starts_with('.')) {
    return findings.note("recording", fmt::format("into {}, until it shows that it trains", trace));
  }
  std::error_code error;
  const auto bytes = fs::file_size(trace, error);
  if (error) return findings.problem("recording", fmt::format("{} is gone: {}", trace, error.message()));
  findings.fine("recording", fmt::format("into {}, {} bytes so far", trace, bytes));
}

void examine_torch(const Process& process, Findings& findings) {
  const std::string torch = process.mapped_like("/libtorch_cpu.so").path;
  if (torch.empty()) {
    return findings.note("torch", "not in the process: the preload object does nothing there");
  }
  findings.fine("torch", torch);
  const std::string adapter = process.mapped_like(std::string("/") + shim::kAdapterFile).path;
  if (adapter.empty()) {
    findings.problem("adapter", fmt::format("not in the process; {}", kWithoutAdapter));
  } else {
    findings.fine("adapter", adapter);
  }
  examine_recording(process, findings);
}

bool is_for_us(const Process& process) {
  return !process.mapped_like("/libtorch_cpu.so").path.empty() ||
         process.variable("LD_PRELOAD").find(kPreloadObject) != std::string::npos;
}

std::string why_unreadable(int pid, const fs::path& directory) {
  const std::string state = file_text(directory / "stat");
  if (const std::size_t name_end = state.rfind(") "); name_end != std::string::npos && state[name_end + 2] == 'Z') {
    return fmt::format("{} has ended; its parent has not asked for its exit status yet", pid);
  }
  struct stat owner {};
  if (stat(directory.c_str(), &owner) == 0 && owner.st_uid != geteuid()) {
    return fmt::format("{} belongs to user {}; only that user and root can look at it", pid, owner.st_uid);
  }
  return fmt::format("{} is a thread of the kernel, or protects itself: it cannot be looked at", pid);
}

}  // namespace

std::optional<Findings> examine_process(int pid) {
  const fs::path directory = fs::path("/proc") / std::to_string(pid);
  std::error_code ignored;
  if (!fs::exists(directory, ignored)) return std::nullopt;
  Findings findings;
  const Process process = look_at(directory);
  if (process.program.empty() || process.mapped.empty()) {
    findings.problem("process", why_unreadable(pid, directory));
    return findings;
  }
  const std::string object = process.mapped_like("/" + std::string(kPreloadObject)).path;
  if (object.empty() && !is_for_us(process)) {
    findings.problem("process", printable(fmt::format("{} is {}: no training job, as it has no torch in it, and not "
                                                      "started under Plumbline; nothing of it is recorded",
                                                      pid, process.program)));
    return findings;
  }
  findings.fine("process", printable(fmt::format("{}, {}", pid, process.program)));
  if (object.empty()) {
    explain_absence(process, findings);
    return findings;
  }
  findings.fine("preload object", object);
  examine_switches(process, findings);
  examine_torch(process, findings);
  return findings;
}

}  // namespace plumbline::tools
