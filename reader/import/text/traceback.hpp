// Python tracebacks in a log: the exception that ended a rank, and where it was raised.
//
// Lines of several ranks may be mixed; those of one rank come in order. Of exceptions that were raised while others
// were handled, the last is what ended the process.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "reader/import/text/log_line.hpp"
#include "reader/import/text/log_processes.hpp"

namespace plumbline::reader::imports {

class Tracebacks {
 public:
  explicit Tracebacks(LogProcesses& processes) : processes_(processes) {}
  bool line(const LogLine& line);

 private:
  LogProcesses& processes_;
  std::map<int, ImportedStack> open_;  // by rank
};

// "RuntimeError: text" → class and message. False when the line does not end a traceback.
bool parse_exception(std::string_view text, std::string& name, std::string& message);

// What an exception's message says of a request for memory that failed, in bytes; 0: nothing. The text rounds it to
// two decimals.
std::uint64_t failed_request(std::string_view message);

}  // namespace plumbline::reader::imports
