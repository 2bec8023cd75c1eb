// `memory`: what was held over time, at the peak and by whom, what grows, and the request that failed.
#include "checks/memory.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "checks/whereabouts.hpp"
#include "reader/names.hpp"
#include "tools/run_reader/commands.hpp"
#include "tools/run_reader/exit_code.hpp"
#include "tools/run_reader/memory_input.hpp"
#include "tools/run_reader/style.hpp"
#include "tools/run_reader/table.hpp"
#include "tools/run_reader/text.hpp"
#include "tools/run_reader/verdict_report.hpp"

namespace plumbline::tools {
namespace {

using checks::LiveSet;
using checks::MemoryProfile;
using checks::PoolProfile;

constexpr std::size_t kMostLines = 16;  // of a time line on a terminal

std::string pool_name(const PoolProfile& pool) {
  const std::string source(reader::name_of(pool.pool.source));
  return pool.pool.device < 0 ? source : fmt::format("{} on device {}", source, pool.pool.device);
}

// Many steps are shown in stretches of equal length, each by its highest step.
std::string timeline_text(const PoolProfile& pool) {
  Table table({{"step", Align::kRight},
               {"peak", Align::kRight},
               {"end", Align::kRight},
               {"largest request", Align::kRight},
               {"", Align::kLeft}});
  const std::size_t count = pool.steps.size();
  const std::size_t stretch = (count + kMostLines - 1) / kMostLines;
  for (std::size_t first = 0; first < count; first += stretch) {
    const std::size_t last = std::min(count, first + stretch) - 1;
    checks::StepMemory shown;
    for (std::size_t step = first; step <= last; ++step) {
      shown.peak = std::max(shown.peak, pool.steps[step].peak);
      shown.largest = std::max(shown.largest, pool.steps[step].largest);
    }
    shown.end = pool.steps[last].end;
    const auto bar = static_cast<std::size_t>(
        pool.peak_bytes == 0 ? 0.0 : 30.0 * static_cast<double>(shown.peak) / static_cast<double>(pool.peak_bytes));
    table.add({first == last ? std::to_string(first) : fmt::format("{}-{}", first, last), bytes_text(shown.peak),
               bytes_text(shown.end), bytes_text(shown.largest), std::string(bar, '#')});
  }
  return table.text(4);
}

std::string peak_text(const Context& context, std::size_t index, const PoolProfile& pool) {
  const reader::Trace& trace = context.run.traces()[index];
  const LiveSet& live = *pool.at_peak;
  std::string text =
      fmt::format("  peak {} at {:.3f} s", bytes_text(live.bytes), context.subject.seconds(index, live.time_ns));
  if (trace.steps().count() > 0) text += fmt::format(", step {}", live.step);
  text += '\n';
  for (const checks::LiveGroup& group : live.groups) {
    std::string line = fmt::format("    {:>10} in {} {}", bytes_text(group.bytes), plural(group.blocks, "block"),
                                   origin_text(trace, group, live.step));
    const std::string site = checks::line_of_request(trace, group.largest.size, group.largest.time_ns);
    line += fmt::format(", the largest {}", bytes_text(group.largest.size));
    if (!site.empty()) line += " by " + site;
    text += wrapped(printable(line), 15) + '\n';
  }
  if (live.reserved > 0) {
    text += fmt::format("    reserved {}, in no block {}, of that in one piece at most {}\n", bytes_text(live.reserved),
                        bytes_text(live.unused), bytes_text(live.largest_hole));
  }
  return text;
}

std::string phases_text(const reader::Trace& trace, const PoolProfile& pool) {
  Table table({{"range", Align::kLeft}, {"most held", Align::kRight}, {"step", Align::kRight}});
  for (std::size_t index = 0; index < pool.phases.size() && index < 8; ++index) {
    const checks::RangePeak& phase = pool.phases[index];
    table.add({phase.range == 0 ? "(outside of all ranges)" : std::string(trace.text(phase.range)),
               bytes_text(phase.bytes), std::to_string(phase.step)});
  }
  return table.text(4);
}

Json live_json(const reader::Trace& trace, const LiveSet& live) {
  Json json = {{"bytes", live.bytes}, {"blocks", live.blocks}, {"step", live.step}};
  json["largest"] = Json::array();
  for (const checks::MemoryBlock& block : live.largest) {
    json["largest"].push_back({{"bytes", block.size},
                               {"step", block.step},
                               {"range", block.range == 0 ? "" : std::string(trace.text(block.range))},
                               {"line", checks::line_of_request(trace, block.size, block.time_ns)}});
  }
  json["reserved"] = live.reserved;
  json["unused"] = live.unused;
  json["largest_hole"] = live.largest_hole;
  return json;
}

Json pool_json(const reader::Trace& trace, const PoolProfile& pool) {
  Json json = {{"rank", trace.rank()},
               {"source", reader::name_of(pool.pool.source)},
               {"device", pool.pool.device},
               {"peak_bytes", pool.peak_bytes},
               {"live_bytes", pool.pool.live_bytes}};
  json["steps"] = Json::array();
  for (const checks::StepMemory& step : pool.steps)
    json["steps"].push_back({{"peak", step.peak}, {"end", step.end}, {"largest", step.largest}});
  json["phases"] = Json::array();
  for (const checks::RangePeak& phase : pool.phases) {
    json["phases"].push_back({{"range", phase.range == 0 ? "" : std::string(trace.text(phase.range))},
                              {"bytes", phase.bytes},
                              {"step", phase.step}});
  }
  if (pool.at_peak) json["at_peak"] = live_json(trace, *pool.at_peak);
  return json;
}

}  // namespace

int run_memory(const Context& context) {
  const auto dimensions = run_dimensions(context.options.config, context.options.dims);
  if (!dimensions.ok()) {
    context.err << "run-reader: " << printable(dimensions.status().message()) << '\n';
    return kExitUsage;
  }
  const std::vector<MemoryProfile> profiles = checks::memory_profiles(context.subject, true);
  const std::vector<checks::Verdict> verdicts = {check_memory(context.subject, profiles, *dimensions)};
  Json json = {{"schema", "plumbline.memory.1"}, {"run", context.run.path()}};
  if (context.options.json) {
    json["verdicts"] = verdicts_json(verdicts);
    json["pools"] = Json::array();
  } else {
    context.out << verdicts_text(verdicts, Style(context.options.colour));
  }
  for (std::size_t index = 0; index < profiles.size(); ++index) {
    const reader::Trace& trace = context.run.traces()[index];
    if (!context.options.filter.takes_rank(trace.rank())) continue;
    for (const PoolProfile& pool : profiles[index].pools) {
      if (context.options.json) {
        json["pools"].push_back(pool_json(trace, pool));
      } else if (pool.peak_bytes > 0) {
        context.out << fmt::format("\nrank {}, {}\n", trace.rank(), pool_name(pool)) << timeline_text(pool)
                    << phases_text(trace, pool);
        if (pool.at_peak) context.out << peak_text(context, index, pool);
      }
    }
  }
  if (context.options.json) print_json(context.out, json);
  return exit_code_of(verdicts, false);
}

}  // namespace plumbline::tools
