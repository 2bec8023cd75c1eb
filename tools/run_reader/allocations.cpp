// `allocations`: requests, peaks and failures by rank, source and device.
#include "checks/memory.hpp"
#include "tools/run_reader/allocation_rows.hpp"
#include "tools/run_reader/commands.hpp"
#include "tools/run_reader/style.hpp"
#include "tools/run_reader/verdict_report.hpp"

namespace plumbline::tools {

int run_allocations(const Context& context) {
  const auto rows = allocation_rows(context);
  const std::vector<checks::Verdict> verdicts = {checks::check_memory(context.subject)};
  if (context.options.json) {
    Json json = {{"schema", "plumbline.allocations.1"}, {"run", context.run.path()}};
    json["verdicts"] = verdicts_json(verdicts);
    json["allocations"] = allocation_json(context, rows);
    print_json(context.out, json);
  } else {
    context.out << verdicts_text(verdicts, Style(context.options.colour));
    if (!rows.empty()) context.out << '\n' << allocation_table(rows, rows.size()).text(0);
  }
  return exit_code_of(verdicts, false);
}

}  // namespace plumbline::tools
