// `export`: the run in another program's format.
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <system_error>

#include "reader/export/perfetto.hpp"
#include "tools/run_reader/commands.hpp"
#include "tools/run_reader/exit_code.hpp"

namespace plumbline::tools {

namespace {

// An output that would replace one of the run's own files.
bool is_input(const Context& context) {
  std::error_code error;
  for (const reader::Trace& trace : context.run.traces()) {
    for (const std::string& path : {trace.path(), trace.ring_path()})
      if (!path.empty() && std::filesystem::equivalent(path, context.options.output, error)) return true;
  }
  return false;
}

}  // namespace

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
  // Written beside its name first: an export that fails half way replaces nothing.
  const std::string unfinished = context.options.output + ".part";
  if (is_input(context)) {
    context.err << "run-reader: " << context.options.output << " is part of the run; name another file with -o.\n";
    return kExitUsage;
  }
  std::ofstream file(unfinished, std::ios::binary | std::ios::trunc);
  if (file) reader::export_perfetto(context.run, context.subject.clock(), options, file);
  file.close();
  if (!file || std::rename(unfinished.c_str(), context.options.output.c_str()) != 0) {
    const int reason = errno;
    std::remove(unfinished.c_str());
    context.err << "run-reader: " << context.options.output << " could not be written: " << std::strerror(reason)
                << '\n';
    return kExitUsage;
  }
  context.err << context.options.output << " is written; open it at https://ui.perfetto.dev\n";
  return context.run.stats().data_lost() ? kExitInconclusive : kExitFine;
}

}  // namespace plumbline::tools
