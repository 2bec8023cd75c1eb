// `stragglers`: who keeps the others waiting, and did steps become slower. Tells smaller losses than `diagnose`, and
// those that may be the machine's doing.
#include "checks/straggler.hpp"
#include "tools/run_reader/commands.hpp"
#include "tools/run_reader/verdict_report.hpp"

namespace plumbline::tools {

int run_stragglers(const Context& context) {
  const std::vector<checks::Verdict> verdicts{checks::check_straggler(context.subject)};
  if (context.options.json) {
    Json json;
    json["schema"] = "plumbline.stragglers.1";
    json["run"] = context.run.path();
    json["verdicts"] = verdicts_json(verdicts);
    print_json(context.out, json);
  } else {
    context.out << verdicts_text(verdicts, Style(context.options.colour));
  }
  return exit_code_of(verdicts, context.run.stats().data_lost());
}

}  // namespace plumbline::tools
