#include "tools/plumbline/subprocess.hpp"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <thread>

namespace plumbline::tools {
namespace {

struct Pipe {
  int read_end = -1;
  int write_end = -1;
  Pipe() {
    std::array<int, 2> ends{};
    if (pipe2(ends.data(), O_CLOEXEC) == 0) {
      read_end = ends[0];
      write_end = ends[1];
    }
  }
  ~Pipe() {
    close_write();
    if (read_end >= 0) close(read_end);
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  void close_write() {
    if (write_end >= 0) close(write_end);
    write_end = -1;
  }
};

std::vector<char*> clean_environment() {
  std::vector<char*> kept;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    if (std::strncmp(*entry, "LD_PRELOAD=", 11) != 0) kept.push_back(*entry);
  }
  kept.push_back(nullptr);
  return kept;
}

bool read_some(const pollfd& source, std::string& text) {
  std::array<char, 65536> buffer;
  const ssize_t bytes = read(source.fd, buffer.data(), buffer.size());
  if (bytes > 0) text.append(buffer.data(), static_cast<std::size_t>(bytes));
  return bytes > 0;
}

void read_both(const Pipe& output, const Pipe& errors, Finished& result) {
  std::array<pollfd, 2> sources{{{output.read_end, POLLIN, 0}, {errors.read_end, POLLIN, 0}}};
  while (sources[0].fd >= 0 || sources[1].fd >= 0) {
    if (poll(sources.data(), sources.size(), -1) < 0) break;
    if (sources[0].revents != 0 && !read_some(sources[0], result.output)) sources[0].fd = -1;
    if (sources[1].revents != 0 && !read_some(sources[1], result.errors)) sources[1].fd = -1;
  }
}

int exit_status(pid_t child) {
  int status = 0;
  while (waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) return -1;
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace

Finished run_program(const std::vector<std::string>& arguments) {
  Finished result;
  Pipe output;
  Pipe errors;
  std::vector<char*> argv;
  argv.reserve(arguments.size() + 1);
  for (const auto& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  auto environment = clean_environment();

  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, output.write_end, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, errors.write_end, STDERR_FILENO);
  pid_t child = 0;
  const int error = posix_spawnp(&child, argv[0], &actions, nullptr, argv.data(), environment.data());
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) {
    result.status = 127;
    result.errors = std::string(argv[0]) + ": " + std::strerror(error);
    return result;
  }
  output.close_write();
  errors.close_write();
  read_both(output, errors, result);
  result.status = exit_status(child);
  return result;
}

std::vector<Finished> run_programs(const std::vector<std::vector<std::string>>& commands, unsigned jobs) {
  std::vector<Finished> results(commands.size());
  std::atomic<std::size_t> next{0};
  std::atomic<bool> failed{false};
  const auto work = [&] {
    for (std::size_t i = next++; i < commands.size() && !failed; i = next++) {
      results[i] = run_program(commands[i]);
      if (results[i].status != 0) failed = true;
    }
  };
  std::vector<std::thread> workers;
  for (unsigned i = 0; i < std::max(jobs, 1u); ++i) workers.emplace_back(work);
  for (auto& worker : workers) worker.join();
  return results;
}

// A directory can be "executed" too.
bool can_run(const std::string& path) {
  struct stat info {};
  return access(path.c_str(), X_OK) == 0 && stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode);
}

std::string find_program(const std::string& name) {
  if (name.empty()) return "";
  if (name.find('/') != std::string::npos) return can_run(name) ? name : "";
  const char* path = std::getenv("PATH");
  std::string_view rest = path != nullptr ? path : "/usr/local/bin:/usr/bin:/bin";
  while (true) {
    const auto end = rest.find(':');
    std::string candidate = std::string(rest.substr(0, end)) + "/" + name;
    if (can_run(candidate)) return candidate;
    if (end == std::string_view::npos) return "";
    rest.remove_prefix(end + 1);
  }
}

}  // namespace plumbline::tools
