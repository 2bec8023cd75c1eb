// `export`: the run in another program's format.
#include "reader/export/perfetto.hpp"
#include "tools/run_reader/commands.hpp"
#include "tools/run_reader/exit_code.hpp"
#include "tools/run_reader/output_file.hpp"

namespace plumbline::tools {

int run_export(const Context& context) {
  const Filter& filter = context.options.filter;
  reader::PerfettoOptions options;
  options.takes_rank = [&](int rank) { return filter.takes_rank(rank); };
  options.from_s = filter.from_s;
  options.to_s = filter.to_s;
  const bool written = write_output(
      context, [&](std::ostream& out) { reader::export_perfetto(context.run, context.subject.clock(), options, out); });
  if (!written) return kExitUsage;
  if (context.options.output != "-") {
    context.err << context.options.output << " is written; open it at https://ui.perfetto.dev\n";
  }
  return context.run.stats().data_lost() ? kExitInconclusive : kExitFine;
}

}  // namespace plumbline::tools
