#include "shim/core/process_files.hpp"

#include <unistd.h>

#include "recorder/shell_words.hpp"
#include "recorder/small_file.hpp"

namespace plumbline::shim {
namespace {

constexpr std::size_t kMostBytes = 256 << 10;

std::string path_of(const char* process, const char* name) noexcept {
  return std::string("/proc/") + process + "/" + name;
}

}  // namespace

std::string link_of(const char* process, const char* name) noexcept {
  char target[4096];
  const ssize_t length = readlink(path_of(process, name).c_str(), target, sizeof target);
  return length > 0 ? std::string(target, static_cast<std::size_t>(length)) : std::string{};
}

std::string command_of(const char* process) noexcept {
  return recorder::shell_line(recorder::read_small_file(path_of(process, "cmdline").c_str(), kMostBytes).value_or(""));
}

std::string environment_of(const char* process) noexcept {
  return recorder::read_small_file(path_of(process, "environ").c_str(), kMostBytes).value_or("");
}

}  // namespace plumbline::shim
