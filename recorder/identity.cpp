#include "recorder/identity.hpp"

#include <sys/utsname.h>
#include <unistd.h>

#include <charconv>
#include <cstdlib>
#include <ctime>
#include <initializer_list>
#include <string_view>

#include "recorder/small_file.hpp"

namespace plumbline::recorder {
namespace {

std::int32_t first_number(std::initializer_list<const char*> names, std::int32_t otherwise) {
  for (const char* name : names) {
    const char* text = std::getenv(name);
    if (text == nullptr) continue;
    std::int32_t value = 0;
    const std::string_view view(text);
    const auto [end, error] = std::from_chars(view.data(), view.data() + view.size(), value);
    if (error == std::errc{} && end == view.data() + view.size() && value >= 0) return value;
  }
  return otherwise;
}

// The nth word of a text, from 0; empty past the end.
std::string_view word(std::string_view text, std::size_t n) {
  for (std::size_t at = 0;;) {
    at = text.find_first_not_of(" \n", at);
    if (at == std::string_view::npos) return {};
    const std::size_t end = text.find_first_of(" \n", at);
    if (n-- == 0) return text.substr(at, end == std::string_view::npos ? end : end - at);
    if (end == std::string_view::npos) return {};
    at = end;
  }
}

std::uint64_t number(std::string_view text) {
  std::uint64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

// Clock ticks since boot; 0 when /proc does not say.
std::uint64_t start_ticks(pid_t pid) {
  const auto stat = read_small_file(("/proc/" + std::to_string(pid) + "/stat").c_str());
  const std::size_t name_end = stat ? stat->rfind(')') : std::string::npos;  // the name may hold blanks and brackets
  return name_end == std::string::npos ? 0 : number(word(std::string_view(*stat).substr(name_end + 1), 19));
}

// Seconds since the epoch; 0 when /proc does not say.
std::uint64_t start_seconds(pid_t pid) {
  const auto boot = read_small_file("/proc/stat", 1 << 20);
  const std::size_t btime = boot ? boot->find("\nbtime ") : std::string::npos;
  const std::uint64_t ticks = start_ticks(pid);
  if (btime == std::string::npos || ticks == 0) return 0;
  const long per_second = sysconf(_SC_CLK_TCK);
  return number(word(std::string_view(*boot).substr(btime), 1)) +
         ticks / static_cast<std::uint64_t>(per_second > 0 ? per_second : 100);
}

bool started_by_a_launcher() {
  if (std::getenv("LOCAL_RANK") != nullptr) return true;
  const auto command = read_small_file("/proc/self/cmdline", 1 << 16);
  return command && (command->find("--multiprocessing-fork") != std::string::npos ||
                     command->find("multiprocessing.forkserver") != std::string::npos);
}

}  // namespace

Identity identify_process() noexcept {
  Identity self;
  utsname name{};
  self.host = uname(&name) == 0 && name.nodename[0] != '\0' ? name.nodename : "localhost";
  self.boot_id = read_small_file("/proc/sys/kernel/random/boot_id").value_or("");
  while (!self.boot_id.empty() && self.boot_id.back() == '\n') self.boot_id.pop_back();
  self.pid = static_cast<std::uint32_t>(getpid());
  self.rank = first_number(
      {"RANK", "OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "MV2_COMM_WORLD_RANK", "SLURM_PROCID"}, -1);
  self.local_rank = first_number(
      {"LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "MV2_COMM_WORLD_LOCAL_RANK", "SLURM_LOCALID"},
      -1);
  self.world_size =
      first_number({"WORLD_SIZE", "OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MV2_COMM_WORLD_SIZE", "SLURM_NTASKS"}, -1);
  self.attempt = first_number({"TORCHELASTIC_RESTART_COUNT", "SLURM_RESTART_COUNT"}, 0);
  return self;
}

std::uint64_t process_start_ticks() { return start_ticks(getpid()); }

std::string launch_stamp() {
  const pid_t pid = started_by_a_launcher() ? getppid() : getpid();
  const auto started = static_cast<std::time_t>(start_seconds(pid));
  std::tm utc{};
  gmtime_r(&started, &utc);
  char text[32];
  const std::size_t length = std::strftime(text, sizeof(text), "%Y%m%d-%H%M%S", &utc);
  return std::string(text, length) + "-" + std::to_string(pid);
}

}  // namespace plumbline::recorder
