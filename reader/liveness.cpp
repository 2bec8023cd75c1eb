#include "reader/liveness.hpp"

#include <unistd.h>

#include <array>
#include <fstream>
#include <sstream>
#include <string>

namespace plumbline::reader {
namespace {

std::string first_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

// The boot id alone is not enough: a container shares it with its host, but not the process numbers.
bool is_this_machine(const ProcessInfo& process) {
  std::array<char, 256> host{};
  if (gethostname(host.data(), host.size() - 1) != 0) return false;
  return process.host == host.data() && process.boot_id == first_line("/proc/sys/kernel/random/boot_id");
}

}  // namespace

bool is_running(std::uint32_t pid, std::uint64_t recording_since_ns) {
  return tells_of_life(first_line("/proc/" + std::to_string(pid) + "/stat"), recording_since_ns);
}

bool tells_of_life(const std::string& stat, std::uint64_t recording_since_ns) {
  // The program's name, in parentheses, may hold anything; the fields after it are the state and then numbers.
  const std::size_t name_end = stat.rfind(')');
  if (name_end == std::string::npos) return false;
  std::istringstream fields(stat.substr(name_end + 1));
  std::string state;
  fields >> state;
  if (state == "Z" || state == "X") return false;
  std::array<std::int64_t, 19> numbers{};  // fields 4 to 22
  for (std::int64_t& number : numbers) {
    if (!(fields >> number)) return false;
  }
  const std::int64_t kernel_flags = numbers[5];
  const std::int64_t start_ticks = numbers[18];
  // A large process that was killed takes a while to give back its memory.
  constexpr std::int64_t kExiting = 0x4;  // PF_EXITING of the kernel's sched.h
  if ((kernel_flags & kExiting) != 0) return false;
  const std::int64_t ticks_per_second = sysconf(_SC_CLK_TCK);
  // Ticks since boot include time asleep, CLOCK_MONOTONIC does not: then an old process may look too young, and is
  // taken for another one only if the machine slept.
  return static_cast<std::uint64_t>(start_ticks / ticks_per_second) <= recording_since_ns / 1'000'000'000 + 1;
}

Life life_of(const Trace& trace) {
  if (trace.exit() != nullptr) return Life::kEnded;
  const ProcessInfo& process = trace.process();
  if (!is_this_machine(process)) return Life::kUnknown;
  return is_running(process.pid, process.start_monotonic_ns) ? Life::kRunning : Life::kGone;
}

}  // namespace plumbline::reader
