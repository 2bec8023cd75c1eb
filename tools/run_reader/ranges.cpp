// `ranges`: named ranges, counts and times.
#include "tools/run_reader/activity_rows.hpp"
#include "tools/run_reader/commands.hpp"
#include "tools/run_reader/exit_code.hpp"

namespace plumbline::tools {

int run_ranges(const Context& context) {
  const auto rows = range_rows(context);
  if (context.options.json) {
    Json json = {{"schema", "plumbline.ranges.1"}, {"run", context.run.path()}, {"ranges", activity_json(rows)}};
    print_json(context.out, json);
  } else if (rows.empty()) {
    context.out << "no range was recorded\n";
  } else {
    context.out << range_table(rows, rows.size()).text(0);
  }
  return kExitFine;
}

}  // namespace plumbline::tools
