#include "recorder/processor_wait.hpp"

#include <charconv>
#include <cstdio>
#include <string>
#include <string_view>

#include "recorder/small_file.hpp"

namespace plumbline::recorder {

std::optional<std::uint64_t> processor_wait_ns(std::uint32_t tid) {
  char path[64];
  std::snprintf(path, sizeof path, "/proc/self/task/%u/schedstat", tid);
  const auto text = read_small_file(path, 128);
  // "time on a processor, time waiting for one, number of turns".
  const std::size_t blank = text ? text->find(' ') : std::string::npos;
  if (blank == std::string::npos) return std::nullopt;
  const std::string_view second = std::string_view(*text).substr(blank + 1);
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(second.data(), second.data() + second.size(), value);
  if (error != std::errc{}) return std::nullopt;
  return value;
}

}  // namespace plumbline::recorder
