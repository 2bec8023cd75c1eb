#include "reader/import/text/torchrun_log.hpp"

#include <algorithm>

#include "reader/import/text/traceback.hpp"

namespace plumbline::reader::imports {
namespace {

// "  rank      : 0 (local_rank: 0)" → "0 (local_rank: 0)".
std::string_view field(std::string_view text, std::string_view name) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  if (!take_word(text, name)) return {};
  while (text.starts_with(' ')) text.remove_prefix(1);
  if (!take_word(text, ":")) return {};
  while (text.starts_with(' ')) text.remove_prefix(1);
  return text;
}

}  // namespace

bool TorchrunLog::line(const LogLine& line) {
  const std::string_view text = line.text;
  if (text.find("Sending process ") != std::string_view::npos &&
      text.find(" closing signal ") != std::string_view::npos) {
    const auto pid = number_after(text, "Sending process ");
    const std::size_t at = text.find("closing signal ") + 15;
    if (pid && *pid > 0)
      stopped_.push_back({static_cast<std::uint32_t>(*pid), line.time_ns, std::string(text.substr(at))});
    return true;
  }
  if (text == "Failures:" || text.starts_with("Root Cause (first observed failure):")) {
    in_summary_ = true;
    in_root_cause_ = text.starts_with("Root");
    return true;
  }
  if (!in_summary_) return false;
  if (text.starts_with("=====")) {
    in_summary_ = false;
    return true;
  }
  return summary_line(text);
}

bool TorchrunLog::summary_line(std::string_view text) {
  if (text.starts_with('[') && text.ends_with("]:")) {
    failures_.emplace_back().first = in_root_cause_;
    return true;
  }
  if (failures_.empty() || !text.starts_with("  ")) return true;
  Failure& failure = failures_.back();
  if (const auto time = field(text, "time"); !time.empty()) {
    failure.time_ns = date_time_ns(time);
  } else if (const auto host = field(text, "host"); !host.empty()) {
    failure.host = host;
  } else if (auto rank = field(text, "rank"); !rank.empty()) {
    failure.local_rank = static_cast<int>(number_after(rank, "local_rank:").value_or(-1));
    failure.rank = static_cast<int>(take_number(rank).value_or(-1));
  } else if (auto code = field(text, "exitcode"); !code.empty()) {
    failure.pid = static_cast<std::uint32_t>(number_after(code, "pid:").value_or(0));
    failure.exit_code = static_cast<int>(take_number(code).value_or(0));
  } else if (text.size() > 2 && text[2] != ' ') {
    // Behind the traceback the exception stands at its margin.
    std::string name;
    std::string message;
    if (field(text, "error_file").empty() && field(text, "traceback").empty() &&
        parse_exception(text.substr(2), name, message) && !message.empty()) {
      failure.exception_class = name;
      failure.exception_message = message;
    }
  }
  return true;
}

void TorchrunLog::add(const Failure& failure) {
  if (failure.rank < 0) return;
  ImportedProcess& process = processes_.of(failure.rank, failure.pid);
  process.local_rank = failure.local_rank;
  if (process.host.empty()) process.host = failure.host;
  ImportedExit exit;
  if (process.exit) exit = std::move(*process.exit);
  exit.time_ns = failure.time_ns;
  // torchrun gives a signal as a negative status.
  exit.signal = failure.exit_code < 0 ? -failure.exit_code : 0;
  exit.status = failure.exit_code < 0 ? -1 : failure.exit_code;
  if (exit.exception_class.empty()) {
    exit.exception_class = failure.exception_class;
    exit.exception_message = failure.exception_message;
  }
  const auto stopped =
      std::find_if(stopped_.begin(), stopped_.end(), [&](const Stopped& one) { return one.pid == failure.pid; });
  if (stopped != stopped_.end()) {
    process.facts.emplace_back("log.stopped_by_agent", stopped->signal);
    // The agent notes whole seconds only; it stopped the others after it had seen the first one fail.
    exit.time_ns = std::max(exit.time_ns, stopped->time_ns);
  }
  if (failure.first) process.facts.emplace_back("log.torchrun_root_cause", "true");
  process.exit = std::move(exit);
  processes_.count("exit");
}

void TorchrunLog::finish() {
  for (const Failure& failure : failures_) add(failure);
}

}  // namespace plumbline::reader::imports
