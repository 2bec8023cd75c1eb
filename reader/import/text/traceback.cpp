#include "reader/import/text/traceback.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>

namespace plumbline::reader::imports {
namespace {

constexpr std::size_t kMostFrames = 500;
constexpr std::size_t kLongestMessage = 2000;

bool is_name(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.';
  }) && std::isdigit(static_cast<unsigned char>(text.front())) == 0;
}

}  // namespace

bool parse_exception(std::string_view text, std::string& name, std::string& message) {
  const std::size_t colon = text.find(": ");
  const std::string_view front = text.substr(0, colon);
  if (!is_name(front)) return false;
  name = front.substr(front.rfind('.') == std::string_view::npos ? 0 : front.rfind('.') + 1);
  message = colon == std::string_view::npos ? std::string() : std::string(text.substr(colon + 2, kLongestMessage));
  return true;
}

std::uint64_t failed_request(std::string_view message) {
  constexpr std::string_view kWords = "Tried to allocate ";
  const std::size_t at = message.find(kWords);
  if (at == std::string_view::npos) return 0;
  std::string_view rest = message.substr(at + kWords.size());
  double amount = 0;
  const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), amount);
  if (error != std::errc{} || amount < 0 || amount > 1e9) return 0;
  rest.remove_prefix(static_cast<std::size_t>(end - rest.data()));
  const int shift = rest.starts_with(" GiB") ? 30 : rest.starts_with(" MiB") ? 20 : rest.starts_with(" KiB") ? 10 : 0;
  return static_cast<std::uint64_t>(amount * static_cast<double>(std::uint64_t{1} << shift));
}

bool Tracebacks::line(const LogLine& line) {
  if (line.text == "Traceback (most recent call last):") {
    open_[line.rank] = {};
    return true;
  }
  const auto it = open_.find(line.rank);
  if (it == open_.end()) return false;
  ImportedStack& stack = it->second;
  std::string_view text = line.text;
  if (take_word(text, "  File \"")) {
    const std::size_t quote = text.find('"');
    const auto number = number_after(text, "\", line ");
    const std::size_t in = text.find(", in ");
    if (quote == std::string_view::npos || !number || stack.python.size() >= kMostFrames) return true;
    stack.python.push_back({in == std::string_view::npos ? std::string() : std::string(text.substr(in + 5)),
                            std::string(text.substr(0, quote)), static_cast<std::uint32_t>(*number), 0});
    return true;
  }
  if (text.starts_with("  ") || text.empty()) return true;  // the source line, and marks below it
  ImportedExit exit;
  if (!parse_exception(text, exit.exception_class, exit.exception_message)) return false;
  // The launcher's own end says only that a worker has ended.
  if (exit.exception_class == "ChildFailedError" || exit.exception_class == "SignalException") {
    open_.erase(it);
    return true;
  }
  ImportedProcess& process = processes_.of_rank(line.rank);
  std::reverse(stack.python.begin(), stack.python.end());
  stack.time_ns = line.time_ns;
  stack.flags = recorder::kTrainingThread;
  if (const std::uint64_t bytes = failed_request(exit.exception_message); bytes != 0) {
    stack.reason = recorder::StackReason::kFailedAllocation;
    stack.detail = bytes;
    ImportedAllocation request;
    request.time_ns = line.time_ns;
    request.kind = recorder::Kind::kAllocFailed;
    request.source = recorder::Source::kCachingBlock;
    request.device = static_cast<std::int16_t>(number_after(exit.exception_message, "GPU ").value_or(0));
    request.size = bytes;
    process.allocations.push_back(request);
    process.facts.emplace_back("log.request_is_rounded", "the message gives two decimals");
    processes_.count("failed request");
  }
  if (process.stacks.size() < LogProcesses::kMostRows) process.stacks.push_back(std::move(stack));
  open_.erase(it);
  exit.time_ns = line.time_ns;
  process.exit = std::move(exit);
  processes_.count("exception");
  return true;
}

}  // namespace plumbline::reader::imports
