#include "reader/import/text/text_import.hpp"

#include <array>
#include <cstring>
#include <span>

#include "reader/import/text/log_line.hpp"
#include "reader/import/text/log_processes.hpp"
#include "reader/import/text/nccl_log.hpp"
#include "reader/import/text/ras_text.hpp"
#include "reader/import/text/stack_text.hpp"
#include "reader/import/text/torchrun_log.hpp"
#include "reader/import/text/traceback.hpp"
#include "reader/import/text/watchdog_log.hpp"

namespace plumbline::reader::imports {
namespace {

// Of a longer line only the beginning is looked at.
constexpr std::size_t kLongestLine = 64 << 10;

// The lines of a stream, without terminal colours.
class Lines {
 public:
  explicit Lines(ByteSource& source) : source_(source) {}

  bool next(std::string& line) {
    line.clear();
    for (;;) {
      if (at_ == end_) {
        end_ = source_.read(window_);
        at_ = 0;
        if (end_ == 0) {
          without_colours(line);
          return !line.empty();
        }
      }
      const auto* const from = window_.data() + at_;
      const void* const found = std::memchr(from, '\n', end_ - at_);
      const std::size_t size =
          found == nullptr ? end_ - at_ : static_cast<std::size_t>(static_cast<const std::uint8_t*>(found) - from);
      const std::size_t room = kLongestLine - std::min(line.size(), kLongestLine);
      line.append(reinterpret_cast<const char*>(from), std::min(size, room));
      cut_ = cut_ || size > room;
      at_ += size + (found == nullptr ? 0 : 1);
      if (found != nullptr) {
        without_colours(line);
        return true;
      }
    }
  }

  bool cut() const { return cut_; }

 private:
  static void without_colours(std::string& line) {
    for (std::size_t at = line.find("\x1b["); at != std::string::npos; at = line.find("\x1b[", at)) {
      const std::size_t end = line.find_first_not_of("0123456789;", at + 2);
      line.erase(at, end == std::string::npos ? end : end + 1 - at);
    }
  }

  ByteSource& source_;
  std::array<std::uint8_t, 64 << 10> window_;
  std::size_t at_ = 0;
  std::size_t end_ = 0;
  bool cut_ = false;
};

std::string counted(const std::map<std::string, std::size_t>& counts) {
  std::string text;
  for (const auto& [what, count] : counts)
    text += (text.empty() ? "text with " : ", ") + std::to_string(count) + " " + what + (count == 1 ? "" : "s");
  return text;
}

}  // namespace

TextImport import_text(ByteSource& source, int rank, int year) {
  LogProcesses processes(rank);
  StackText stacks(processes);
  RasText ras(processes);
  WatchdogLog watchdog(processes);
  NcclLog nccl(processes);
  TorchrunLog torchrun(processes);
  Tracebacks tracebacks(processes);
  Lines lines(source);
  for (std::string text; lines.next(text);) {
    const LogLine line(text, year);
    if (stacks.line(line) || ras.line(line) || watchdog.line(line) || nccl.line(line) || torchrun.line(line)) continue;
    tracebacks.line(line);
  }
  stacks.finish();
  ras.finish();
  watchdog.finish();
  torchrun.finish();

  TextImport result;
  result.what = counted(processes.counts());
  result.cut_line = lines.cut();
  result.processes = processes.finish();
  for (ImportedProcess& process : result.processes) {
    process.formats = {"text"};
    process.lacks = {"collectives that went well", "allocations", "optimizer steps", "ranges"};
  }
  return result;
}

}  // namespace plumbline::reader::imports
