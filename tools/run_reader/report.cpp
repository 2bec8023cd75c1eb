// `report`: the run on one HTML page.
#include "tools/run_reader/report/page.hpp"

#include "tools/run_reader/commands.hpp"
#include "tools/run_reader/exit_code.hpp"
#include "tools/run_reader/explained_memory.hpp"
#include "tools/run_reader/output_file.hpp"
#include "tools/run_reader/verdict_report.hpp"

namespace plumbline::tools {

int run_report(const Context& context) {
  std::vector<checks::Verdict> verdicts = evaluate_all(context.subject);
  if (!explain_memory(context, verdicts)) return kExitUsage;
  const std::string page = report_page(context, verdicts);
  if (!write_output(context, [&](std::ostream& out) { out << page; })) return kExitUsage;
  if (context.options.output != "-") context.err << context.options.output << " is written; open it in a browser\n";
  return exit_code_of(verdicts, context.run.stats().data_lost());
}

}  // namespace plumbline::tools
