#include "tools/run_reader/run_facts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <set>

#include "reader/steps.hpp"
#include "tools/run_reader/text.hpp"

namespace plumbline::tools {
namespace {

struct RankMedian {
  std::uint64_t median_ns = 0;
  std::int32_t rank = -1;
};

template <class Value>
Value median_of(std::vector<Value>& values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

std::uint64_t median_step_ns(const reader::StepTimeline& steps) {
  std::vector<std::uint64_t> times;
  for (std::int64_t step = 1; step < steps.count(); ++step) {
    times.push_back(steps.window(step).to_ns - steps.window(step - 1).to_ns);
  }
  return times.empty() ? 0 : median_of(times);
}

bool is_current(const reader::Run& run, const reader::Trace& trace) {
  return trace.launch() == run.launches() - 1 && trace.attempt() == run.last_attempt();
}

std::string line(std::string_view label, const std::string& text) {
  constexpr std::size_t kLabel = 12;
  return wrapped(fmt::format("{:<{}}{}", label, kLabel, printable(text)), kLabel) + '\n';
}

}  // namespace

StepTimes step_times(const Context& context) {
  StepTimes times;
  std::vector<RankMedian> medians;
  bool first = true;
  for (const reader::Trace& trace : context.run.traces()) {
    if (!is_current(context.run, trace)) continue;
    const reader::StepTimeline& steps = trace.steps();
    times.steps = std::max(times.steps, steps.count());
    times.least_steps = first ? steps.count() : std::min(times.least_steps, steps.count());
    first = false;
    if (steps.exact_until() >= 0 && (times.exact_until < 0 || steps.exact_until() < times.exact_until)) {
      times.exact_until = steps.exact_until();
    }
    if (const std::uint64_t median = median_step_ns(steps); median > 0) medians.push_back({median, trace.rank()});
  }
  if (medians.empty()) return times;
  std::sort(medians.begin(), medians.end(), [](const auto& a, const auto& b) { return a.median_ns < b.median_ns; });
  times.fastest_ns = medians.front().median_ns;
  times.median_ns = medians[medians.size() / 2].median_ns;
  times.slowest_ns = medians.back().median_ns;
  times.slowest_rank = medians.back().rank;
  return times;
}

std::string steps_text(const StepTimes& steps) {
  if (steps.steps == 0) return "none was recorded";
  std::string text = plural(static_cast<std::uint64_t>(steps.steps), "logical step");
  if (steps.least_steps != steps.steps) text += fmt::format(" ({} on the rank with fewest)", steps.least_steps);
  if (steps.median_ns > 0) text += fmt::format(", median {} a step", duration_text(steps.median_ns));
  // A tenth is what two equal ranks may differ by.
  if (steps.slowest_ns > steps.fastest_ns + steps.fastest_ns / 10) {
    text += fmt::format("; by rank {} to {} (rank {})", duration_text(steps.fastest_ns),
                        duration_text(steps.slowest_ns), steps.slowest_rank);
  }
  if (steps.exact_until >= 0) {
    text +=
        fmt::format("; numbers after step {} are an estimate, as events were evicted or dropped", steps.exact_until);
  }
  return text;
}

RunFacts run_facts(const Context& context) {
  RunFacts facts;
  const auto& traces = context.run.traces();
  facts.processes = traces.size();
  facts.world_size = context.run.world_size();
  facts.launches = context.run.launches();
  facts.attempts = context.run.last_attempt() + 1;
  facts.missing_ranks = context.run.missing_ranks();
  facts.start_realtime_ns = context.subject.clock().start_realtime_ns();
  std::set<std::string> hosts;
  for (std::size_t index = 0; index < traces.size(); ++index) {
    hosts.insert(traces[index].host());
    facts.duration_s = std::max(facts.duration_s, context.subject.seconds(index, traces[index].last_ns()));
  }
  facts.hosts.assign(hosts.begin(), hosts.end());
  if (!traces.empty()) {
    const reader::Definitions& first = traces.front().definitions();
    facts.command = first.fact("process.command");
    constexpr std::array<std::pair<const char*, const char*>, 4> kVersions = {
        {{"torch", "torch.version"}, {"python", "python.version"}, {"cuda", "torch.cuda"}, {"nccl", "nccl.version"}}};
    for (const auto& [name, key] : kVersions) {
      if (const auto value = first.fact(key); !value.empty()) facts.versions.emplace_back(name, value);
    }
    facts.versions.emplace_back("plumbline", traces.front().process().plumbline_version);
  }
  facts.steps = step_times(context);
  return facts;
}

std::string run_facts_text(const Context& context, const RunFacts& facts) {
  std::string run = std::filesystem::path(context.run.path()).lexically_normal().filename().string();
  if (run.empty() || run == ".") run = context.run.path();
  std::string text = line("run", fmt::format("{}, started {}, recorded for {}", run, date_text(facts.start_realtime_ns),
                                             duration_text(static_cast<std::uint64_t>(facts.duration_s * 1e9))));
  std::string ranks = plural(facts.processes, "process", "processes");
  if (facts.world_size > 0) ranks += fmt::format(" of a world of {}", facts.world_size);
  ranks += facts.hosts.size() == 1 ? fmt::format(" on {}", facts.hosts.front())
                                   : fmt::format(" on {} hosts", facts.hosts.size());
  if (!facts.missing_ranks.empty()) ranks += fmt::format("; no trace of {}", ranks_phrase(facts.missing_ranks));
  if (facts.attempts > 1) ranks += fmt::format("; {} attempts", facts.attempts);
  if (facts.launches > 1) ranks += fmt::format("; {} launches share this directory", facts.launches);
  text += line("ranks", ranks);
  std::string versions;
  for (const auto& [name, version] : facts.versions) {
    versions += fmt::format("{}{} {}", versions.empty() ? "" : ", ", name, version);
  }
  text += line("versions", versions);
  if (!facts.command.empty()) text += line("command", truncated(printable(facts.command), 160));
  return text + line("steps", steps_text(facts.steps));
}

Json run_facts_json(const RunFacts& facts) {
  Json versions = Json::object();
  for (const auto& [name, version] : facts.versions) versions[name] = version;
  const StepTimes& steps = facts.steps;
  return {{"processes", facts.processes},
          {"world_size", facts.world_size},
          {"launches", facts.launches},
          {"attempts", facts.attempts},
          {"missing_ranks", facts.missing_ranks},
          {"hosts", facts.hosts},
          {"start_realtime_s", static_cast<double>(facts.start_realtime_ns) / 1e9},
          {"duration_s", facts.duration_s},
          {"command", facts.command},
          {"versions", versions},
          {"logical_steps", steps.steps},
          {"logical_steps_least", steps.least_steps},
          {"logical_steps_exact_until", steps.exact_until},
          {"median_step_s", static_cast<double>(steps.median_ns) / 1e9},
          {"median_step_s_fastest", static_cast<double>(steps.fastest_ns) / 1e9},
          {"median_step_s_slowest", static_cast<double>(steps.slowest_ns) / 1e9},
          {"slowest_rank", steps.slowest_rank}};
}

}  // namespace plumbline::tools
