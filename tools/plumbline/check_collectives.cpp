#include "tools/plumbline/check_collectives.hpp"

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <set>
#include <sstream>
#include <string_view>
#include <system_error>

#include "reader/run.hpp"
#include "tools/plumbline/probe_results.hpp"
#include "tools/plumbline/say.hpp"
#include "tools/plumbline/source_files.hpp"
#include "tools/plumbline/subprocess.hpp"
#include "tools/plumbline/temporary_directory.hpp"
#include "tools/run_reader/exit_code.hpp"
#include "tools/run_reader/remedy.hpp"
#include "tools/run_reader/text.hpp"

namespace plumbline::tools {
namespace {

constexpr std::size_t kMostLines = 50;
constexpr std::array<std::string_view, 5> kLauncherModules = {"torch.distributed.run", "torch.distributed.launch",
                                                              "accelerate.commands.launch", "deepspeed.launcher.runner",
                                                              "deepspeed.launcher.launch"};

bool starts_script(const std::vector<std::string>& command, std::size_t at) {
  const std::string& word = command[at];
  if (word == "-m" || word == "--module") {
    return at + 1 == command.size() ||
           std::find(kLauncherModules.begin(), kLauncherModules.end(), command[at + 1]) == kLauncherModules.end();
  }
  return word.ends_with(".py") && word.front() != '-';
}

// "0,1;2,3": the groups that a run had, beside its world.
std::string groups_of(const reader::Run& run) {
  std::vector<std::string> texts;
  for (const reader::Trace& trace : run.traces()) {
    for (const reader::Group& group : trace.definitions().groups) {
      std::string text;
      for (const int rank : group.ranks) text += (text.empty() ? "" : ",") + std::to_string(rank);
      if (std::find(texts.begin(), texts.end(), text) == texts.end()) texts.push_back(text);
    }
  }
  return joined(texts, ";");
}

// "0,1;2,3", or nothing.
bool are_groups(const std::string& text) {
  std::istringstream groups(text);
  for (std::string group; std::getline(groups, group, ';');) {
    std::set<int> ranks;
    std::istringstream members(group + ",");
    for (std::string member; std::getline(members, member, ',');) {
      int rank = -1;
      const auto [end, error] = std::from_chars(member.data(), member.data() + member.size(), rank);
      const bool whole = error == std::errc{} && end == member.data() + member.size() && rank >= 0;
      if (!whole || !ranks.insert(rank).second) return false;
    }
  }
  return true;
}

// "nccl", or by device "cpu:gloo,cuda:nccl".
bool are_backends(const std::string& text) {
  constexpr std::array<std::string_view, 4> kBackends = {"gloo", "nccl", "mpi", "ucc"};
  std::istringstream parts(text);
  bool any = false;
  for (std::string part; std::getline(parts, part, ',');) {
    const std::string name = part.substr(part.find(':') + 1);
    any = true;
    if (std::find(kBackends.begin(), kBackends.end(), name) == kBackends.end() || part.starts_with(':')) return false;
  }
  return any && text.back() != ',';
}

// What the launcher prints goes to standard error: standard output is for what the probe found. -1: not started.
int run_launcher(const std::vector<std::string>& command) {
  std::vector<char*> argv;
  argv.reserve(command.size() + 1);
  for (const auto& word : command) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    dup2(STDERR_FILENO, STDOUT_FILENO);
    execvp(argv[0], argv.data());
    _exit(127);
  }
  int status = 0;
  while (child > 0 && waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) return -1;
  }
  return child < 0 ? -1 : WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

void print_some(const std::vector<std::string>& lines) {
  for (std::size_t i = 0; i < std::min(lines.size(), kMostLines); ++i) fmt::print("{}\n", lines[i]);
  if (lines.size() > kMostLines) fmt::print("and {} more\n", lines.size() - kMostLines);
}

int report(const ProbeResults& results, int launcher_status) {
  if (results.world == 0) {
    fmt::print("inconclusive: no rank came to its first collective; the launcher ended with status {}\n",
               launcher_status);
    return kExitInconclusive;
  }
  print_some(results.failures);
  print_some(results.unfinished);
  for (const std::string& operation : results.skipped) fmt::print("not tried: {}\n", operation);
  const std::string scope =
      fmt::format("{} on {}, {}, torch {}", plural(results.calls, "call"),
                  plural(static_cast<std::uint64_t>(results.world), "rank"), results.backend, results.torch);
  if (!results.failures.empty()) {
    fmt::print("fail: {} of {}\n", plural(results.failures.size(), "difference"), scope);
    return kExitFindings;
  }
  if (!results.unfinished.empty()) {
    fmt::print("inconclusive: {} without a result; {}\n", plural(results.unfinished.size(), "rank"), scope);
    return kExitInconclusive;
  }
  fmt::print("pass: every result is as it should be; {}\n", scope);
  return kExitFine;
}

int refuse(const std::string& sentence) {
  say(printable(sentence));
  return kExitUsage;
}

}  // namespace

std::vector<std::string> with_probe(const std::vector<std::string>& command, const std::vector<std::string>& probe) {
  std::vector<std::string> words;
  for (std::size_t i = 0; i < command.size() && (i == 0 || !starts_script(command, i)); ++i)
    words.push_back(command[i]);
  words.insert(words.end(), probe.begin(), probe.end());
  return words;
}

int check_collectives(const CollectiveCheckOptions& options) {
  std::string groups = options.groups;
  if (!are_groups(groups)) return refuse(fmt::format("--groups {}: give ranks as 0,1;2,3, each only once", groups));
  if (!options.backend.empty() && !are_backends(options.backend)) {
    return refuse(fmt::format("--backend {}: give gloo, nccl, mpi or ucc, or one a device as cpu:gloo,cuda:nccl",
                              options.backend));
  }
  if (!options.run.empty() && groups.empty()) {
    const auto run = reader::Run::open(options.run);
    if (!run.ok()) return refuse(why_no_run(options.run, run.status()));
    groups = groups_of(*run);
  }
  if (find_program(options.command.front()).empty()) {
    return refuse(fmt::format("there is no program {}", options.command.front()));
  }
  const TemporaryDirectory place("plumbline-collectives", options.directory);
  const std::string probe = place.path().empty() ? "" : write_source(kCollectiveProbes[0], place.path().string());
  if (probe.empty()) {
    return refuse(fmt::format("{} cannot be written to",
                              options.directory.empty() ? "the temporary directory (TMPDIR)" : options.directory));
  }
  std::vector<std::string> script = {probe, "--output", place.path().string(), "--seconds",
                                     std::to_string(options.seconds)};
  if (!options.backend.empty()) script.insert(script.end(), {"--backend", options.backend});
  if (!groups.empty()) script.insert(script.end(), {"--groups", groups});
  const int status = run_launcher(with_probe(options.command, script));
  return report(read_probe_results(place.path().string()), status);
}

}  // namespace plumbline::tools
