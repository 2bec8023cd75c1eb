// `export`: the run in another program's format.
#include "checks/diagnosis.hpp"
#include "reader/export/perfetto.hpp"
#include "tools/run_reader/commands.hpp"
#include "tools/run_reader/exit_code.hpp"
#include "tools/run_reader/output_file.hpp"

namespace plumbline::tools {

namespace {

// The moments of all findings that have one.
std::vector<reader::PerfettoIncident> incidents_of(const Context& context) {
  std::vector<reader::PerfettoIncident> incidents;
  for (const checks::Verdict& verdict : checks::diagnose(context.subject).verdicts) {
    for (const checks::Finding& finding : verdict.findings) {
      if (finding.time_ns <= 0) continue;
      const std::string title = verdict.check + ": " + finding.title;
      incidents.push_back({finding.time_ns, finding.ranks, title, verdict.check, finding.next});
    }
  }
  return incidents;
}

}  // namespace

int run_export(const Context& context) {
  const Filter& filter = context.options.filter;
  reader::PerfettoOptions options;
  options.takes_rank = [&](int rank) { return filter.takes_rank(rank); };
  options.from_s = filter.from_s;
  options.to_s = filter.to_s;
  options.incidents = incidents_of(context);
  const bool written = write_output(
      context, [&](std::ostream& out) { reader::export_perfetto(context.run, context.subject.clock(), options, out); });
  if (!written) return kExitUsage;
  if (context.options.output != "-") {
    context.err << context.options.output << " is written; open it at https://ui.perfetto.dev\n";
  }
  return context.run.stats().data_lost() ? kExitInconclusive : kExitFine;
}

}  // namespace plumbline::tools
