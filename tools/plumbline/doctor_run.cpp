// The doctor's look at a run: who recorded what, which hooks fired, what was not covered and why.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <vector>

#include "checks/ending.hpp"
#include "reader/liveness.hpp"
#include "reader/run.hpp"
#include "tools/plumbline/doctor.hpp"
#include "tools/run_reader/remedy.hpp"
#include "tools/run_reader/text.hpp"

namespace plumbline::tools {
namespace {

namespace fs = std::filesystem;

std::string file_name(const reader::Trace& trace) {
  return fs::path(trace.path().empty() ? trace.ring_path() : trace.path()).filename().string();
}

std::string who(const reader::Trace& trace) {
  const std::string rank = trace.rank() < 0 ? "a process without a rank" : fmt::format("rank {}", trace.rank());
  const std::string attempt = trace.attempt() > 0 ? fmt::format(", attempt {}", trace.attempt()) : "";
  return printable(fmt::format("{}{} (pid {} on {})", rank, attempt, trace.pid(), trace.host()));
}

bool is_hidden(const std::string& path) { return fs::path(path).filename().string().starts_with('.'); }

// A process that has not shown that it trains, or never will.
void examine_pending(const reader::Trace& trace, Findings& findings) {
  const std::string name = file_name(trace);
  const reader::Life life = reader::life_of(trace);
  if (life == reader::Life::kRunning) {
    return findings.note("process",
                         printable(fmt::format("{} has not shown yet that it trains: {}", who(trace), name)));
  }
  const char* const fate =
      life == reader::Life::kUnknown ? "had not shown that it trains" : "was killed before it trained";
  const std::string ring = trace.ring_path().empty() || trace.ring_path() == trace.path()
                               ? ""
                               : " and " + fs::path(trace.ring_path()).filename().string();
  const char* const remedy = life == reader::Life::kUnknown ? "" : "; nothing needs them any more, they can be deleted";
  findings.note("process", printable(fmt::format("{} {}, and left {}{}{}", who(trace), fate, name, ring, remedy)));
}

void examine_trace(const reader::Trace& trace, Findings& findings) {
  if (is_hidden(file_name(trace))) return examine_pending(trace, findings);
  const reader::Definitions& definitions = trace.definitions();
  const std::string command(definitions.fact("process.command"));
  findings.fine("process", printable(fmt::format("{} {}; {}", who(trace), checks::ending_of(trace).clause, command)));
  if (definitions.fact("adapter.state") == "missing") {
    findings.problem("adapter",
                     printable(fmt::format("{} had none ({}): optimizer steps and the arguments of collectives "
                                           "are not recorded; plumbline build-adapter makes it",
                                           who(trace), definitions.fact("adapter.reason"))));
  }
  for (const reader::Stat& stat : trace.stats().rows()) {
    if (stat.severity != reader::Severity::kDataLoss) continue;
    const std::string what = stat.detail.empty() ? fmt::format("{} ({})", stat.name, stat.value) : stat.detail;
    findings.problem("data", printable(fmt::format("{}: {}", who(trace), what)));
  }
}

// Each once: all processes of a launch have the same.
void examine_settings(const reader::Run& run, Findings& findings) {
  std::set<std::string> told;
  for (const reader::Trace& trace : run.traces()) {
    for (const auto& [key, value] : trace.definitions().facts) {
      if (key.starts_with("settings.complaint.") && told.insert(value).second) {
        findings.problem("settings", printable(value));
      }
    }
  }
}

// Children that train have traces of their own, and say who their parent is.
void examine_forks(const reader::Run& run, Findings& findings) {
  for (const reader::Trace& parent : run.traces()) {
    std::uint64_t forks = 0;
    for (const reader::HookCount& hook : parent.definitions().hooks) {
      if (hook.name == "fork") forks = hook.fired;
    }
    if (forks == 0 || is_hidden(file_name(parent))) continue;
    std::uint64_t children = 0;
    for (const reader::Trace& child : run.traces()) {
      const bool is_child = child.definitions().fact("process.parent") == std::to_string(parent.pid()) &&
                            child.process().boot_id == parent.process().boot_id && child.host() == parent.host();
      children += is_child && !is_hidden(file_name(child));
    }
    if (children >= forks) continue;
    findings.note("fork", printable(fmt::format(
                              "{} forked {}, {} of which left a trace: the others did no optimizer step and called no "
                              "collective, or were forked before the recorder could see it",
                              who(parent), plural(forks, "process", "processes"), children)));
  }
}

// One hook over all processes that trained.
struct HookSum {
  std::uint64_t fired = 0;
  std::vector<int> active;
  std::vector<int> off;
  std::string why;
};

// A hook that is off is a gap when the process had something for it; without CUDA, say, it had nothing.
void report(const std::string& name, const HookSum& hook, Findings& findings) {
  if (hook.off.empty()) {
    const std::string detail = hook.why.empty() ? "" : fmt::format(" ({})", hook.why);
    return findings.fine("hook", printable(fmt::format("{}: fired {} times{}", name, count_text(hook.fired), detail)));
  }
  const std::string where = hook.active.empty() ? "" : fmt::format(" on {}", ranks_phrase(hook.off));
  findings.note("hook", printable(fmt::format("{}: off{}{}{}", name, where, hook.why.empty() ? "" : ", ", hook.why)));
}

// The functions of NCCL have a hook each. Those that nobody called would fill the page; "NCCL C API" stands for them.
bool is_idle_function(const std::string& name, const HookSum& hook) {
  return name.starts_with("nccl") && hook.fired == 0 && hook.off.empty();
}

void examine_hooks(const reader::Run& run, Findings& findings) {
  std::map<std::string, HookSum> hooks;
  std::vector<std::string> order;
  for (const reader::Trace& trace : run.traces()) {
    if (is_hidden(file_name(trace))) continue;
    for (const reader::HookCount& count : trace.definitions().hooks) {
      const auto [at, first] = hooks.try_emplace(count.name);
      if (first) order.push_back(count.name);
      at->second.fired += count.fired;
      (count.active ? at->second.active : at->second.off).push_back(trace.rank());
      if (!count.detail.empty()) at->second.why = count.detail;
    }
  }
  for (const std::string& name : order) {
    if (!is_idle_function(name, hooks[name])) report(name, hooks[name], findings);
  }
}

void examine_ranks(const reader::Run& run, Findings& findings) {
  if (const auto missing = run.missing_ranks(); !missing.empty()) {
    findings.problem("ranks",
                     fmt::format("no trace of {} in a world of {}: started elsewhere, without the preload object, "
                                 "or with another run directory",
                                 ranks_phrase(missing), run.world_size()));
  }
  if (run.launches() > 1) {
    findings.note("ranks", fmt::format("{} launches recorded into this directory", run.launches()));
  }
  for (const reader::Run::Skipped& skipped : run.skipped()) {
    if (is_hidden(skipped.path)) {
      findings.note("file", printable(fmt::format("{} was left by a process that was killed while it made its trace "
                                                  "shorter; nothing needs it any more, it can be deleted",
                                                  fs::path(skipped.path).filename().string())));
    } else {
      findings.problem("file", printable(skipped.why));
    }
  }
}

}  // namespace

std::optional<Findings> examine_run(const std::string& path, std::string& why) {
  reader::OpenOptions options;
  options.hidden = true;
  const auto run = reader::Run::open(path, options);
  if (!run.ok()) {
    why = why_no_run(path, run.status());
    return std::nullopt;
  }
  Findings findings;
  for (const reader::Trace& trace : run->traces()) examine_trace(trace, findings);
  examine_settings(*run, findings);
  examine_forks(*run, findings);
  examine_ranks(*run, findings);
  examine_hooks(*run, findings);
  return findings;
}

}  // namespace plumbline::tools
