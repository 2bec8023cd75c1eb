#include "tools/plumbline/recorded_launch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <sstream>
#include <string_view>

#include "recorder/reported_variables.hpp"
#include "recorder/shell_words.hpp"
#include "tools/run_reader/text.hpp"

namespace plumbline::tools {
namespace {

using reader::Code;
using reader::Status;
using reader::Trace;

// Programs of a cluster or a session: what they run again is not the job.
constexpr std::string_view kForeignLaunchers[] = {"slurmstepd", "orted",       "prted",          "hydra_pmi_proxy",
                                                  "pmi_proxy",  "sshd",        "login",          "systemd",
                                                  "init",       "docker-init", "containerd-shim"};
constexpr std::string_view kShells[] = {"sh", "bash", "dash", "zsh", "ksh", "fish"};

template <class Names>
bool is_one_of(const std::string& executable, const Names& names) {
  const std::string name = std::filesystem::path(executable).filename().string();
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

Status refusal(const std::string& sentence) { return {Code::kUnreadable, printable(sentence)}; }

// The processes of the last launch in its first attempt that is there, those with a rank first.
std::vector<const Trace*> processes_of(const reader::Run& run) {
  std::vector<const Trace*> found;
  for (const Trace& trace : run.traces()) {
    if (trace.launch() == run.launches() - 1) found.push_back(&trace);
  }
  std::stable_sort(found.begin(), found.end(), [](const Trace* a, const Trace* b) {
    return std::pair(a->attempt(), a->rank() < 0) < std::pair(b->attempt(), b->rank() < 0);
  });
  return found;
}

std::set<std::string> hosts_of(const std::vector<const Trace*>& processes) {
  std::set<std::string> hosts;
  for (const Trace* trace : processes) hosts.insert(trace->host());
  return hosts;
}

std::set<std::string> parents_of(const std::vector<const Trace*>& processes) {
  std::set<std::string> parents;
  for (const Trace* trace : processes) {
    const bool counts = trace->rank() >= 0 && trace->attempt() == processes.front()->attempt();
    if (counts) parents.emplace(trace->definitions().fact("process.parent"));
  }
  return parents;
}

// A shell that a person sat at, and no script.
bool is_interactive_shell(const reader::Definitions& facts) {
  const auto words = recorder::split_shell_line(facts.fact("launcher.command"));
  return is_one_of(std::string(facts.fact("launcher.executable")), kShells) && words && words->size() == 1;
}

// The launcher gave the rank its number; one that had the number itself passed it on.
bool launched_the_ranks(const reader::Definitions& facts) {
  if (facts.fact("launcher.command").empty()) return false;
  if (facts.fact("env.RANK").empty()) return true;  // multiprocessing
  const std::string lacks = fmt::format(",{},", facts.fact("launcher.lacks"));
  return lacks.find(",RANK,") != std::string::npos || !facts.fact("launcher.env.RANK").empty();
}

bool is_repeated(std::string_view name) {
  return recorder::is_reported_variable(name) && name != "PLUMBLINE_RUN" && name != "PLUMBLINE_DIR" &&
         name != "LD_PRELOAD";
}

// LD_PRELOAD without the preload object: the one beside this program is put there again.
std::string other_preloads(std::string words) {
  std::replace(words.begin(), words.end(), ':', ' ');
  std::istringstream split(words);
  std::string kept;
  for (std::string word; split >> word;) {
    if (std::filesystem::path(word).filename() != "libplumbline.so") kept += (kept.empty() ? "" : ":") + word;
  }
  return kept;
}

std::map<std::string, std::string> variables_of(const reader::Definitions& definitions, bool of_launcher) {
  constexpr std::string_view kOwn = "env.";
  constexpr std::string_view kLaunchers = "launcher.env.";
  std::map<std::string, std::string> variables;
  for (const auto& [key, value] : definitions.facts) {
    if (key.starts_with(kOwn)) variables[key.substr(kOwn.size())] = value;
  }
  if (of_launcher) {
    std::istringstream lacks{std::string(definitions.fact("launcher.lacks"))};
    for (std::string name; std::getline(lacks, name, ',');) variables.erase(name);
    for (const auto& [key, value] : definitions.facts) {
      if (key.starts_with(kLaunchers)) variables[key.substr(kLaunchers.size())] = value;
    }
  }
  const std::string preloads = other_preloads(variables["LD_PRELOAD"]);
  std::erase_if(variables, [](const auto& entry) { return !is_repeated(entry.first); });
  if (!preloads.empty()) variables["LD_PRELOAD"] = preloads;
  return variables;
}

reader::Result<RecordedLaunch> launch_of(const reader::Definitions& facts, bool by_launcher) {
  const std::string who = by_launcher ? "launcher" : "process";
  auto words = recorder::split_shell_line(facts.fact(who + ".command"));
  RecordedLaunch launch;
  launch.executable = facts.fact(who + ".executable");
  launch.directory = facts.fact(who + ".directory");
  if (!words || words->empty() || launch.directory.empty()) {
    return refusal("the traces do not tell the command line that started the run");
  }
  launch.command = std::move(*words);
  launch.variables = variables_of(facts, by_launcher);
  launch.by_launcher = by_launcher;
  return launch;
}

}  // namespace

reader::Result<RecordedLaunch> recorded_launch(const reader::Run& run) {
  const auto processes = processes_of(run);
  if (processes.empty()) return refusal(fmt::format("{} has no trace", run.path()));
  const reader::Definitions& facts = processes.front()->definitions();
  if (const auto format = facts.fact("source.format"); !format.empty()) {
    return refusal(
        fmt::format("{} was imported ({}): nothing in it tells how the job was launched", run.path(), format));
  }
  if (const auto hosts = hosts_of(processes); hosts.size() > 1) {
    const std::vector<std::string> names(hosts.begin(), hosts.end());
    return refusal(
        fmt::format("the run had {} hosts ({}), and only jobs of one host are launched again; give the same "
                    "command to plumbline run on each",
                    hosts.size(), joined(names, ", ")));
  }
  const int world = std::max(run.world_size(), 1);
  if (launched_the_ranks(facts) && !(world == 1 && is_interactive_shell(facts))) {
    const std::string executable(facts.fact("launcher.executable"));
    if (is_one_of(executable, kForeignLaunchers) || is_interactive_shell(facts)) {
      return refusal(fmt::format("the ranks were started by {}, which cannot be started again from here", executable));
    }
    if (const auto parents = parents_of(processes); parents.size() > 1) {
      return refusal(
          fmt::format("the ranks were started by {} launchers, and only one is launched again", parents.size()));
    }
    return launch_of(facts, true);
  }
  if (world > 1) return refusal(fmt::format("the traces do not tell what launched the {} ranks", world));
  return launch_of(facts, false);
}

}  // namespace plumbline::tools
