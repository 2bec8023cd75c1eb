// nccl_trace_check RUN DIRECTORY: compares the traces of nccl_job with the logs that it kept itself. Exit status 0: no
// event is lost, none is invented, and all fields are equal.
#include <algorithm>
#include <cstdio>
#include <fstream>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "reader/run.hpp"
#include "tests/nccl/trace_words.hpp"

namespace plumbline::nccl_job {
namespace {

constexpr std::uint64_t kGraphLaunches = 3;  // of the job

struct Log {
  std::vector<std::string> collectives, comms, allocations;
  std::vector<std::string> labels;  // of each collective's communicator
};

Log read_log(const std::string& path) {
  Log log;
  std::ifstream file(path);
  for (std::string text; std::getline(file, text);) {
    if (text.rfind("collective ", 0) == 0) {
      // "collective what reduce type in out peer send recv stream LABEL… group outcome code"
      std::size_t begin = 0;
      for (int field = 0; field < 10; ++field) begin = text.find(' ', begin) + 1;
      std::size_t end = text.size();
      for (int field = 0; field < 3; ++field) end = text.rfind(' ', end - 1);
      log.labels.push_back(text.substr(begin, end - begin));
      log.collectives.push_back(text.replace(begin, end - begin, log.labels.back() == "-" ? "-" : "*"));
    } else {
      (text.rfind("comm ", 0) == 0 ? log.comms : log.allocations).push_back(text);
    }
  }
  return log;
}

class Check {
 public:
  void compare(const std::string& what, const std::vector<std::string>& expected,
               const std::vector<std::string>& recorded) {
    for (std::size_t at = 0; at < std::max(expected.size(), recorded.size()); ++at) {
      const std::string logged = at < expected.size() ? expected[at] : "(nothing)";
      const std::string traced = at < recorded.size() ? recorded[at] : "(nothing)";
      expect(logged == traced,
             what + " " + std::to_string(at + 1) + "\n  called   " + logged + "\n  recorded " + traced);
    }
  }

  // A communicator has one id on all of its ranks, another than every other one, and numbers its calls without a gap.
  void compare_groups(const Log& log, const TraceWords& words) {
    std::map<std::pair<std::string, bool>, std::uint64_t> next;
    for (std::size_t at = 0; at < std::min(log.labels.size(), words.groups.size()); ++at) {
      const std::string& label = log.labels[at];
      if (label == "-") continue;
      const std::uint64_t group = ids_.emplace(label, words.groups[at]).first->second;
      const std::string owner = labels_.emplace(words.groups[at], label).first->second;
      expect(group == words.groups[at] && group != 0, "the communicator '" + label + "' has more than one id");
      expect(owner == label, "'" + owner + "' and '" + label + "' have the same id");
      // The members of a clique number their calls apart.
      if (label.rfind("clique", 0) == 0) continue;
      const bool message = words.collectives[at].find(" send ") != std::string::npos ||
                           words.collectives[at].find(" recv ") != std::string::npos;
      expect(words.sequence[at] == next[{label, message}]++, "number of call " + std::to_string(at + 1));
    }
  }

  void expect(bool holds, const std::string& what) {
    if (holds) return;
    if (++failures_ <= 20) std::fprintf(stderr, "%s\n", what.c_str());
  }

  int failures() const { return failures_; }

 private:
  std::map<std::string, std::uint64_t> ids_;
  std::map<std::uint64_t, std::string> labels_;
  int failures_ = 0;
};

std::uint64_t lines_that_start(const std::vector<std::string>& lines, const std::string& word) {
  const auto starts = [&](const std::string& text) { return text.rfind(word + " ", 0) == 0; };
  return static_cast<std::uint64_t>(std::count_if(lines.begin(), lines.end(), starts));
}

// The hooks are on, and say how often they fired.
void check_hooks(Check& check, const reader::Trace& trace, const Log& log, const TraceWords& words) {
  std::map<std::string, std::uint64_t> fired;
  for (const reader::HookCount& hook : trace.definitions().hooks) {
    if (hook.active) fired[hook.name] = hook.fired;
  }
  check.expect(fired.count("NCCL C API") == 1, "the NCCL hooks are not reported as on");
  const std::pair<const char*, const char*> calls[] = {
      {"ncclAllReduce", "all_reduce"}, {"ncclReduce", "reduce"}, {"ncclAllGather", "all_gather"},
      {"ncclAlltoAll", "all_to_all"},  {"ncclSend", "send"},     {"ncclRecv", "recv"}};
  for (const auto& [function, word] : calls) {
    check.expect(fired[function] == lines_that_start(log.collectives, std::string("collective ") + word),
                 std::string("count of ") + function);
  }
  check.expect(
      fired["CUDA runtime allocation calls"] == log.allocations.size() + words.nccl_allocations + words.nccl_frees,
      "count of the CUDA hooks");
  check.expect(fired["CUDA graph launches"] == kGraphLaunches, "count of graph launches");
}

void check_trace(Check& check, const reader::Trace& trace, const std::string& directory) {
  const std::string rank = std::to_string(trace.rank());
  const Log log = read_log(directory + "/rank" + rank + ".log");
  const TraceWords words = words_of(trace);
  check.expect(!log.collectives.empty(), "no log of rank " + rank);
  check.compare("rank " + rank + ", collective", log.collectives, words.collectives);
  check.compare("rank " + rank + ", communicator", log.comms, words.comms);
  check.compare("rank " + rank + ", allocation", log.allocations, words.allocations);
  check.compare_groups(log, words);
  check_hooks(check, trace, log, words);
  check.expect(words.graph_launches == kGraphLaunches, "graph launches of rank " + rank);
  // One piece of memory a communicator, and one that the job asked NCCL for.
  const std::uint64_t made = lines_that_start(log.comms, "comm destroy") + lines_that_start(log.comms, "comm abort");
  check.expect(words.nccl_allocations == made + 1, "NCCL's allocations of rank " + rank);
  check.expect(words.nccl_frees == words.nccl_allocations, "NCCL's releases of rank " + rank);
  check.expect(!trace.stats().data_lost(), "the trace of rank " + rank + " lost data");
}

}  // namespace
}  // namespace plumbline::nccl_job

int main(int argc, char** argv) {
  using namespace plumbline;
  if (argc != 3) {
    std::fprintf(stderr, "usage: nccl_trace_check RUN DIRECTORY\n");
    return 2;
  }
  const auto run = reader::Run::open(argv[1]);
  if (!run.ok()) {
    std::fprintf(stderr, "%s\n", run.status().message().c_str());
    return 2;
  }
  nccl_job::Check check;
  for (const reader::Trace& trace : run->traces()) nccl_job::check_trace(check, trace, argv[2]);
  check.expect(run->missing_ranks().empty() && run->traces().size() >= 2, "a rank left no trace");
  std::printf("%zu traces, %d differences\n", run->traces().size(), check.failures());
  return check.failures() == 0 ? 0 : 1;
}
