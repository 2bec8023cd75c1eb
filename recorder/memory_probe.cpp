#include "recorder/memory_probe.hpp"

#include <unistd.h>

#include <charconv>
#include <string>
#include <string_view>

#include "recorder/small_file.hpp"

namespace plumbline::recorder {
namespace {

std::optional<std::uint64_t> leading_number(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{}) return std::nullopt;
  return value;
}

// Lines of /proc/self/cgroup are "0::/path" for v2 and "n:memory,…:/path" for v1. In a container the path may be that
// of the host while the mount shows the container's own group at its root.
std::string find_cgroup_file() {
  const std::string groups = read_small_file("/proc/self/cgroup", 1 << 16).value_or("");
  std::string_view rest(groups);
  while (!rest.empty()) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(':', first + 1);
    if (first == std::string_view::npos || second == std::string_view::npos) continue;
    const std::string path(line.substr(second + 1));
    const std::string_view controllers = line.substr(first + 1, second - first - 1);
    const bool v2 = controllers.empty();
    if (!v2 && controllers.find("memory") == std::string_view::npos) continue;
    const std::string mount = v2 ? "/sys/fs/cgroup" : "/sys/fs/cgroup/memory";
    const std::string file = v2 ? "/memory.current" : "/memory.usage_in_bytes";
    for (const std::string& candidate : {mount + path + file, mount + file}) {
      if (read_small_file(candidate.c_str(), 64)) return candidate;
    }
  }
  return {};
}

}  // namespace

MemoryProbe::MemoryProbe() : cgroup_file_(find_cgroup_file()) {}

std::optional<std::uint64_t> MemoryProbe::resident_bytes() const {
  const auto text = read_small_file("/proc/self/statm", 256);
  const std::size_t blank = text ? text->find(' ') : std::string::npos;
  if (blank == std::string::npos) return std::nullopt;
  const auto pages = leading_number(std::string_view(*text).substr(blank + 1));
  if (!pages) return std::nullopt;
  return *pages * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

std::optional<std::uint64_t> MemoryProbe::cgroup_bytes() const {
  if (cgroup_file_.empty()) return std::nullopt;
  const auto text = read_small_file(cgroup_file_.c_str(), 64);
  return text ? leading_number(*text) : std::nullopt;
}

// v2 keeps the count in memory.events, v1 in memory.oom_control, both as a line "oom_kill N".
std::optional<std::uint64_t> MemoryProbe::cgroup_oom_kills() const {
  constexpr std::string_view kLine = "oom_kill ";
  const std::string folder = cgroup_file_.substr(0, cgroup_file_.rfind('/') + 1);
  for (const char* const name : {"memory.events", "memory.oom_control"}) {
    const auto text = folder.empty() ? std::nullopt : read_small_file((folder + name).c_str(), 1024);
    const std::size_t at = text ? ("\n" + *text).find("\n" + std::string(kLine)) : std::string::npos;
    if (at != std::string::npos) return leading_number(std::string_view(*text).substr(at + kLine.size()));
  }
  return std::nullopt;
}

}  // namespace plumbline::recorder
