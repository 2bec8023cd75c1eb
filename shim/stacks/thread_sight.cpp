#include "shim/stacks/thread_sight.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <ctime>

#include "recorder/small_file.hpp"

namespace plumbline::shim::stacks {
namespace {

constexpr std::string_view kTasks = "/proc/self/task/";

std::string read_task_file(std::uint32_t tid, std::string_view name) noexcept {
  constexpr std::size_t kLongest = 8192;
  std::string path(kTasks);
  path += std::to_string(tid);
  path += name;
  return recorder::read_small_file(path.c_str(), kLongest).value_or("");
}

// Of a file that lists "Name:\tvalue" lines.
std::uint64_t hexadecimal_after(std::string_view text, std::string_view name) noexcept {
  const std::size_t at = text.find(name);
  if (at == std::string_view::npos) return 0;
  text.remove_prefix(at + name.size());
  text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
  std::uint64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value, 16);
  return value;
}

// How long a thread has run, and how often it has waited.
struct Progress {
  std::uint64_t ran_ns = 0;
  std::string waits;
};

std::optional<Progress> progress_of(std::uint32_t tid) noexcept {
  constexpr std::string_view kWaits = "\nvoluntary_ctxt_switches:";
  const std::string ran = read_task_file(tid, "/schedstat");
  const std::string status = read_task_file(tid, "/status");
  const std::size_t at = status.find(kWaits);
  if (ran.empty() || at == std::string::npos) return std::nullopt;
  Progress progress;
  std::from_chars(ran.data(), ran.data() + ran.size(), progress.ran_ns);
  progress.waits = status.substr(at, status.find('\n', at + 1) - at);
  return progress;
}

// What a descriptor of a blocking read or write stands for decides: a socket may have a time limit, and an inotify
// descriptor has none but is never restarted.
bool is_pipe_or_file(std::uint64_t descriptor) noexcept {
  struct stat status {};
  if (fstat(static_cast<int>(descriptor), &status) != 0) return false;
  return S_ISFIFO(status.st_mode) || S_ISREG(status.st_mode) || S_ISCHR(status.st_mode) || S_ISBLK(status.st_mode);
}

bool is_restarted(const ThreadSight& sight) noexcept {
  switch (sight.system_call) {
    case SYS_read:
    case SYS_write:
    case SYS_readv:
    case SYS_writev:
    case SYS_pread64:
    case SYS_pwrite64:
      return is_pipe_or_file(sight.arguments[0]);
    case SYS_wait4:
    case SYS_waitid:
    case SYS_flock:
      return true;
    case SYS_fcntl:
      return sight.arguments[1] == F_SETLKW;
    case SYS_futex: {
      const auto operation = sight.arguments[1] & FUTEX_CMD_MASK;
      const bool waits = operation == FUTEX_WAIT || operation == FUTEX_WAIT_BITSET;
      return waits && sight.arguments[3] == 0;  // no time limit
    }
    default:
      return false;
  }
}

}  // namespace

std::vector<std::uint32_t> thread_ids() noexcept {
  std::vector<std::uint32_t> ids;
  DIR* const directory = opendir(std::string(kTasks).c_str());
  if (directory == nullptr) return ids;
  while (const dirent* const entry = readdir(directory)) {
    const auto id = static_cast<std::uint32_t>(std::strtoul(entry->d_name, nullptr, 10));
    if (id != 0) ids.push_back(id);
  }
  closedir(directory);
  return ids;
}

// "running", or "NUMBER ARGUMENT×6 SP PC" with number -1 for a thread that is blocked outside of a system call.
void parse_system_call(std::string_view text, ThreadSight& sight) noexcept {
  std::array<std::uint64_t, 8> values{};
  const char* at = text.data();
  const char* const end = at + text.size();
  int number = 0;
  const auto [after, error] = std::from_chars(at, end, number);
  if (error != std::errc{} || number < 0) return;
  at = after;
  for (std::uint64_t& value : values) {
    while (at != end && *at == ' ') ++at;
    if (end - at > 2 && at[0] == '0' && at[1] == 'x') at += 2;
    const auto [next, problem] = std::from_chars(at, end, value, 16);
    if (problem != std::errc{}) return;
    at = next;
  }
  sight.in_system_call = true;
  sight.system_call = number;
  std::copy_n(values.begin(), sight.arguments.size(), sight.arguments.begin());
  sight.registers.set(kStackPointer, values[6]);
  sight.registers.set(kProgramCounter, values[7]);
}

std::optional<ThreadSight> look_at(std::uint32_t tid) noexcept {
  ThreadSight sight;
  sight.tid = tid;
  sight.name = read_task_file(tid, "/comm");
  if (sight.name.empty()) return std::nullopt;  // it has ended
  if (sight.name.back() == '\n') sight.name.pop_back();
  parse_system_call(read_task_file(tid, "/syscall"), sight);
  sight.blocked_signals = hexadecimal_after(read_task_file(tid, "/status"), "SigBlk:");
  return sight;
}

bool runs_by_itself(std::uint32_t tid, int& patience) noexcept {
  // The kernel brings the time up to date at its ticks, some milliseconds apart.
  constexpr int kLongest = 100;
  constexpr std::uint64_t kLeast = 500'000;
  const std::optional<Progress> first = progress_of(tid);
  for (int i = 0; first && i < kLongest && patience > 0; ++i, --patience) {
    const timespec pause{0, 1'000'000};
    nanosleep(&pause, nullptr);
    const std::optional<Progress> now = progress_of(tid);
    if (!now || now->waits != first->waits) return false;
    if (now->ran_ns >= first->ran_ns + kLeast) return true;
  }
  return false;
}

bool may_interrupt(const ThreadSight& sight, int signal) noexcept {
  // A thread that blocks the signal might wait for any signal, and would then be handed ours.
  if ((sight.blocked_signals >> (signal - 1) & 1) != 0) return false;
  return !sight.in_system_call || is_restarted(sight);
}

}  // namespace plumbline::shim::stacks
