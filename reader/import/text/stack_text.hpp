// Stacks in text: what `py-spy dump` prints, and Python's faulthandler.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "reader/import/text/log_line.hpp"
#include "reader/import/text/log_processes.hpp"

namespace plumbline::reader::imports {

class StackText {
 public:
  explicit StackText(LogProcesses& processes) : processes_(processes) {}
  // True when the line was part of a stack.
  bool line(const LogLine& line);
  void finish() { close(); }

 private:
  enum class Format : std::uint8_t { kNone, kPySpy, kFaultHandler };

  bool py_spy_line(std::string_view text);
  bool py_spy_frame(std::string_view text);
  bool fault_handler_line(const LogLine& line);
  void open(Format format, int rank);
  void close();

  LogProcesses& processes_;
  Format format_ = Format::kNone;
  std::optional<std::uint32_t> pid_;  // of py-spy's last "Process" line
  std::string command_;
  std::int32_t signal_ = 0;  // of faulthandler's last "Fatal Python error"
  int rank_ = -1;
  ImportedStack stack_;
};

}  // namespace plumbline::reader::imports
