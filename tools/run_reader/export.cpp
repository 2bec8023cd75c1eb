// `export`: the run in another program's format.
#include <cerrno>
#include <cstring>
#include <fstream>

#include "reader/export/perfetto.hpp"
#include "tools/run_reader/commands.hpp"
#include "tools/run_reader/exit_code.hpp"

namespace plumbline::tools {

int run_export(const Context& context) {
  const Filter& filter = context.options.filter;
  reader::PerfettoOptions options;
  options.takes_rank = [&](int rank) { return filter.takes_rank(rank); };
  options.from_s = filter.from_s;
  options.to_s = filter.to_s;
  if (context.options.output == "-") {
    reader::export_perfetto(context.run, context.subject.clock(), options, context.out);
    return context.run.stats().data_lost() ? kExitInconclusive : kExitFine;
  }
  std::ofstream file(context.options.output, std::ios::binary | std::ios::trunc);
  if (file) reader::export_perfetto(context.run, context.subject.clock(), options, file);
  file.close();
  if (!file) {
    context.err << "run-reader: " << context.options.output << " could not be written: " << std::strerror(errno)
                << '\n';
    return kExitUsage;
  }
  context.err << context.options.output << " is written; open it at https://ui.perfetto.dev\n";
  return context.run.stats().data_lost() ? kExitInconclusive : kExitFine;
}

}  // namespace plumbline::tools
