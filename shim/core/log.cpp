#include "shim/core/log.hpp"

#include <cerrno>
#include <cstdarg>
#include <cstdio>

#include "recorder/log.hpp"

namespace plumbline::shim {

void log_line(const char* format, ...) noexcept {
  const int saved_errno = errno;
  char line[512];
  std::va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(line, sizeof line, format, arguments);
  va_end(arguments);
  recorder::log().line(line);
  errno = saved_errno;
}

}  // namespace plumbline::shim
