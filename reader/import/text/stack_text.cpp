#include "reader/import/text/stack_text.hpp"

#include <charconv>
#include <csignal>
#include <utility>

namespace plumbline::reader::imports {
namespace {

constexpr std::string_view kFaultHandlerMark = " (most recent call first):";
// More frames than any stack has: recursion without end, of which the innermost tell enough.
constexpr std::size_t kMostFrames = 500;

std::uint64_t hex_number(std::string_view text) {
  std::uint64_t value = 0;
  if (take_word(text, "0x")) std::from_chars(text.data(), text.data() + text.size(), value, 16);
  return value;
}

std::int32_t signal_of(std::string_view error) {
  constexpr std::pair<std::string_view, int> kErrors[] = {{"Segmentation fault", SIGSEGV},
                                                          {"Aborted", SIGABRT},
                                                          {"Bus error", SIGBUS},
                                                          {"Floating", SIGFPE},
                                                          {"Illegal instruction", SIGILL}};
  for (const auto& [name, number] : kErrors)
    if (error.starts_with(name)) return number;
  return 0;
}

// "(graph.py:869)" is a line of Python; "(libc.so.6)" is native.
std::optional<ImportedFrame> frame_of(std::string_view text) {
  const std::size_t open = text.rfind(" (");
  if (open == std::string_view::npos || !text.ends_with(')')) return std::nullopt;
  ImportedFrame frame;
  frame.function = text.substr(0, open);
  std::string_view place = text.substr(open + 2, text.size() - open - 3);
  const std::size_t colon = place.rfind(':');
  if (colon != std::string_view::npos) {
    std::string_view digits = place.substr(colon + 1);
    const auto number = take_number(digits);
    if (number && digits.empty()) {
      frame.line = static_cast<std::uint32_t>(*number);
      place = place.substr(0, colon);
    }
  }
  frame.file = place;
  return frame;
}

bool is_native(const ImportedFrame& frame) {
  if (frame.function.starts_with("0x")) return true;
  return frame.line == 0 || frame.file.ends_with(".cpp") || frame.file.ends_with(".c") || frame.file.ends_with(".h");
}

}  // namespace

void StackText::open(Format format, int rank) {
  close();
  format_ = format;
  rank_ = rank;
  stack_ = {};
}

void StackText::close() {
  if (format_ == Format::kNone) return;
  ImportedProcess& process = format_ == Format::kPySpy && pid_ ? processes_.of_pid(*pid_) : processes_.of_rank(rank_);
  if (format_ == Format::kFaultHandler) {
    // The training thread is the one that runs the script.
    if (!stack_.python.empty() && stack_.python.back().function == "<module>")
      stack_.flags |= recorder::kTrainingThread;
    if (signal_ != 0) {
      stack_.reason = recorder::StackReason::kFatalSignal;
      stack_.detail = static_cast<std::uint64_t>(signal_);
      if (!process.exit) process.exit = ImportedExit{0, -1, signal_, {}, {}};
    }
  }
  if (format_ == Format::kPySpy && !command_.empty()) {
    process.facts.emplace_back("command", command_);
    command_.clear();
  }
  if (process.stacks.size() < LogProcesses::kMostRows) process.stacks.push_back(std::move(stack_));
  processes_.count("stack");
  stack_ = {};
  format_ = Format::kNone;
}

bool StackText::line(const LogLine& line) {
  if (line.text.ends_with(kFaultHandlerMark) || line.text.starts_with("Fatal Python error: ") ||
      format_ == Format::kFaultHandler) {
    if (fault_handler_line(line)) return true;
  }
  return py_spy_line(line.text);
}

bool StackText::fault_handler_line(const LogLine& line) {
  std::string_view text = line.text;
  if (take_word(text, "Fatal Python error: ")) {
    close();
    signal_ = signal_of(text);
    return true;
  }
  if (text.ends_with(kFaultHandlerMark)) {
    const bool current = take_word(text, "Current thread ");
    if (!current && !take_word(text, "Thread ")) return false;
    const std::int32_t signal = std::exchange(signal_, 0);
    open(Format::kFaultHandler, line.rank);
    // The signal came in the current thread; those that are listed beside it only show where they were.
    signal_ = current ? signal : 0;
    stack_.tid = static_cast<std::uint32_t>(hex_number(text.substr(0, text.find(' '))));
    if (const std::string_view name = between(text, "[", "]"); !name.empty()) stack_.thread_name = name;
    return true;
  }
  if (!take_word(text, "  File \"")) {
    close();
    signal_ = 0;
    return text.empty();
  }
  const std::size_t quote = text.find('"');
  const auto number = number_after(text, "\", line ");
  const std::size_t in = text.find(" in ", quote == std::string_view::npos ? 0 : quote);
  if (quote == std::string_view::npos || !number || in == std::string_view::npos) return false;
  if (stack_.python.size() < kMostFrames)
    stack_.python.push_back(
        {std::string(text.substr(in + 4)), std::string(text.substr(0, quote)), static_cast<std::uint32_t>(*number), 0});
  return true;
}

bool StackText::py_spy_line(std::string_view text) {
  std::string_view rest = text;
  if (take_word(rest, "Process ")) {
    const auto pid = take_number(rest);
    if (!pid || *pid <= 0 || !take_word(rest, ": ")) return false;
    close();
    pid_ = static_cast<std::uint32_t>(*pid);
    command_ = rest;
    return true;
  }
  if (!pid_) return false;
  if (take_word(rest, "Python v")) {
    processes_.of_pid(*pid_).facts.emplace_back("python", rest.substr(0, rest.find(' ')));
    return true;
  }
  if (take_word(rest, "Thread ")) {
    const auto tid =
        rest.starts_with("0x") ? static_cast<std::int64_t>(hex_number(rest)) : take_number(rest).value_or(0);
    const std::string_view state = between(rest, "(", ")");
    if (state.empty()) return false;
    open(Format::kPySpy, -1);
    stack_.tid = static_cast<std::uint32_t>(tid);
    stack_.thread_name = between(rest, "\"", "\"");
    if (state.find("idle") != std::string_view::npos) stack_.flags |= recorder::kIdle;
    if (state.find("gil") != std::string_view::npos) stack_.flags |= recorder::kHoldsInterpreterLock;
    if (stack_.thread_name == "MainThread") stack_.flags |= recorder::kTrainingThread;
    return true;
  }
  if (text.empty()) return true;
  return format_ == Format::kPySpy && py_spy_frame(text);
}

bool StackText::py_spy_frame(std::string_view text) {
  // Arguments and locals stand deeper than frames.
  if (text.starts_with("        ")) return true;
  if (!take_word(text, "    ")) {
    close();
    pid_.reset();
    return false;
  }
  auto frame = frame_of(text);
  if (!frame) return true;
  const bool native = is_native(*frame);
  if (native && frame->function.starts_with("0x")) {
    frame->pc = hex_number(frame->function);
    frame->function.clear();
  }
  auto& frames = native ? stack_.native : stack_.python;
  if (frames.size() < kMostFrames) frames.push_back(std::move(*frame));
  return true;
}

}  // namespace plumbline::reader::imports
