// `summary`: findings first, then what ran, then how much of it, then what was not recorded.
#include <fmt/format.h>

#include "tools/run_reader/activity_rows.hpp"
#include "tools/run_reader/allocation_rows.hpp"
#include "tools/run_reader/collective_rows.hpp"
#include "tools/run_reader/commands.hpp"
#include "tools/run_reader/coverage.hpp"
#include "tools/run_reader/run_facts.hpp"
#include "tools/run_reader/text.hpp"
#include "tools/run_reader/verdict_report.hpp"

namespace plumbline::tools {
namespace {

constexpr std::size_t kMostRows = 8;

void print_section(const Context& context, const Style& style, std::string_view title, const Table& table,
                   std::size_t rows, std::string_view command) {
  if (table.empty()) return;
  context.out << '\n' << style.bold(title);
  if (rows > kMostRows) {
    context.out << fmt::format(" (the first {} of {}; run-reader {} shows all)", kMostRows, rows, command);
  }
  context.out << '\n' << table.text(2);
}

void print_as_text(const Context& context, const std::vector<checks::Verdict>& verdicts) {
  const Style style(context.options.colour);
  context.out << verdicts_text(verdicts, style) << '\n' << run_facts_text(context, run_facts(context));
  const auto collectives = collective_rows(context);
  print_section(context, style, "collectives", collective_table(collectives, kMostRows), collectives.size(),
                "collectives");
  const auto allocations = allocation_rows(context);
  print_section(context, style, "allocator", allocation_table(allocations, kMostRows), allocations.size(),
                "allocations");
  print_section(context, style, "optimizers", optimizer_table(optimizer_rows(context)), 0, "optimizer");
  const auto ranges = range_rows(context);
  print_section(context, style, "ranges", range_table(ranges, kMostRows), ranges.size(), "ranges");
  const auto gaps = coverage_gaps(context);
  if (!gaps.empty()) context.out << '\n' << style.bold("not covered") << '\n' << coverage_text(context, gaps);
}

void print_as_json(const Context& context, const std::vector<checks::Verdict>& verdicts, bool data_lost) {
  Json json;
  json["schema"] = "plumbline.summary.1";
  json["run"] = context.run.path();
  json["verdicts"] = verdicts_json(verdicts);
  json["data_lost"] = data_lost;
  json["facts"] = run_facts_json(run_facts(context));
  json["collectives"] = collective_json(collective_rows(context));
  json["allocations"] = allocation_json(context, allocation_rows(context));
  json["optimizers"] = activity_json(optimizer_rows(context));
  json["ranges"] = activity_json(range_rows(context));
  json["not_covered"] = coverage_json(coverage_gaps(context));
  print_json(context.out, json);
}

}  // namespace

int run_summary(const Context& context) {
  const std::vector<checks::Verdict> verdicts = evaluate_all(context.subject);
  const bool data_lost = context.run.stats().data_lost();
  if (context.options.json) {
    print_as_json(context, verdicts, data_lost);
  } else {
    print_as_text(context, verdicts);
  }
  return exit_code_of(verdicts, data_lost);
}

}  // namespace plumbline::tools
