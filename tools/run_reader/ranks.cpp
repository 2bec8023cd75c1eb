// `ranks`: every process of the run, and how it ended.
#include <fmt/format.h>

#include <filesystem>

#include "checks/ending.hpp"
#include "reader/steps.hpp"
#include "tools/run_reader/commands.hpp"
#include "tools/run_reader/exit_code.hpp"
#include "tools/run_reader/json_out.hpp"
#include "tools/run_reader/table.hpp"
#include "tools/run_reader/text.hpp"

namespace plumbline::tools {
namespace {

std::string_view name_of(checks::EndingKind kind) {
  switch (kind) {
    case checks::EndingKind::kClean:
      return "clean";
    case checks::EndingKind::kFailed:
      return "failed";
    case checks::EndingKind::kSignal:
      return "signal";
    case checks::EndingKind::kKilled:
      return "killed";
    case checks::EndingKind::kReplaced:
      return "replaced";
    case checks::EndingKind::kRunning:
      return "running";
    case checks::EndingKind::kUnknown:
      return "unknown";
  }
  return "unknown";
}

std::string file_name(const reader::Trace& trace) {
  return std::filesystem::path(trace.path().empty() ? trace.ring_path() : trace.path()).filename().string();
}

void print_as_text(const Context& context) {
  Table table({{"rank", Align::kRight},
               {"host"},
               {"pid", Align::kRight},
               {"from", Align::kRight},
               {"to", Align::kRight},
               {"steps", Align::kRight},
               {"collectives", Align::kRight},
               {"ending"}});
  const auto& traces = context.run.traces();
  for (std::size_t index = 0; index < traces.size(); ++index) {
    const reader::Trace& trace = traces[index];
    if (!context.options.filter.takes_rank(trace.rank())) continue;
    std::string rank = trace.rank() < 0 ? "-" : std::to_string(trace.rank());
    if (trace.attempt() > 0) rank += fmt::format("/a{}", trace.attempt());
    table.add({rank, trace.host(), std::to_string(trace.pid()),
               fmt::format("{:.1f} s", context.subject.seconds(index, trace.process().start_monotonic_ns)),
               fmt::format("{:.1f} s", context.subject.seconds(index, trace.last_ns())),
               count_text(static_cast<std::uint64_t>(trace.steps().count())),
               count_text(context.subject.summaries()[index].collectives), checks::ending_of(trace).clause});
  }
  context.out << table.text(0);
  for (const int rank : context.run.missing_ranks()) context.out << fmt::format("rank {} has no trace\n", rank);
}

void print_as_json(const Context& context) {
  Json json = {{"schema", "plumbline.ranks.1"}, {"run", context.run.path()}, {"ranks", Json::array()}};
  const auto& traces = context.run.traces();
  for (std::size_t index = 0; index < traces.size(); ++index) {
    const reader::Trace& trace = traces[index];
    if (!context.options.filter.takes_rank(trace.rank())) continue;
    const checks::Ending ending = checks::ending_of(trace);
    Json facts = Json::object();
    for (const auto& [key, value] : trace.definitions().facts) facts[key] = value;
    Json entry = {{"rank", trace.rank()},
                  {"rank_confirmed", trace.rank_confirmed()},
                  {"attempt", trace.attempt()},
                  {"launch", trace.launch()},
                  {"local_rank", trace.process().local_rank},
                  {"world_size", trace.process().world_size},
                  {"host", trace.host()},
                  {"pid", trace.pid()},
                  {"trace", file_name(trace)},
                  {"start_t", context.subject.seconds(index, trace.process().start_monotonic_ns)},
                  {"last_t", context.subject.seconds(index, trace.last_ns())},
                  {"logical_steps", trace.steps().count()},
                  {"collectives", context.subject.summaries()[index].collectives},
                  {"ending", name_of(ending.kind)},
                  {"ending_text", ending.clause}};
    if (const reader::ExitInfo* exit = trace.exit()) {
      entry["exit"] = {{"status", exit->status},
                       {"signal", exit->signal},
                       {"exception_class", exit->exception_class},
                       {"exception_message", exit->exception_message}};
    }
    entry["facts"] = std::move(facts);
    json["ranks"].push_back(std::move(entry));
  }
  json["missing_ranks"] = context.run.missing_ranks();
  print_json(context.out, json);
}

}  // namespace

int run_ranks(const Context& context) {
  if (context.options.json) {
    print_as_json(context);
  } else {
    print_as_text(context);
  }
  return kExitFine;
}

}  // namespace plumbline::tools
