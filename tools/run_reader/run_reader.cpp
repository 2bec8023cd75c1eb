#include "tools/run_reader/run_reader.hpp"

#include <unistd.h>

#include <cerrno>
#include <optional>
#include <ostream>

#include "tools/run_reader/check.hpp"
#include "tools/run_reader/command_line.hpp"
#include "tools/run_reader/commands.hpp"
#include "tools/run_reader/exit_code.hpp"
#include "tools/run_reader/foreign_run.hpp"
#include "tools/run_reader/import.hpp"
#include "tools/run_reader/progress.hpp"
#include "tools/run_reader/remedy.hpp"
#include "tools/run_reader/text.hpp"

namespace plumbline::tools {
namespace {

int dispatch(const Context& context) {
  switch (context.options.command) {
    case Command::kDiagnose:
      return run_diagnose(context);
    case Command::kSummary:
      return run_summary(context);
    case Command::kRanks:
      return run_ranks(context);
    case Command::kCollectives:
      return run_collectives(context);
    case Command::kAllocations:
      return run_allocations(context);
    case Command::kMemory:
      return run_memory(context);
    case Command::kOptimizer:
      return run_optimizer(context);
    case Command::kRanges:
      return run_ranges(context);
    case Command::kStacks:
      return run_stacks(context);
    case Command::kEvents:
      return run_events(context);
    case Command::kDump:
      return run_dump(context);
    case Command::kExport:
      return run_export(context);
    case Command::kStragglers:
      return run_stragglers(context);
    case Command::kReport:
      return run_report(context);
    case Command::kVerify:
      return run_verify(context);
    case Command::kCheck:
      return run_check(context);
    case Command::kImport:  // works on files, not on a run
      break;
  }
  return kExitUsage;
}

// Several of Plumbline's own in the place of one; a shell makes them of RUN/*.
std::string several_recordings(const std::vector<std::string>& paths) {
  if (paths.size() < 2 || !are_native(paths)) return "";
  return paths[0] + " and " + paths[1] + " are recordings of Plumbline's own, which are read one run at a time: give " +
         "one run directory alone.";
}

// Commands that say themselves, in their output, what of the run is lost.
bool tells_losses(Command command) {
  return command == Command::kDiagnose || command == Command::kSummary || command == Command::kReport ||
         command == Command::kVerify;
}

std::string losses(const reader::Stats& stats) {
  std::string first;
  std::size_t more = 0;
  for (const reader::Stat& row : stats.rows()) {
    if (row.severity != reader::Severity::kDataLoss) continue;
    if (first.empty())
      first = row.detail.empty() ? row.name : row.detail;
    else
      ++more;
  }
  return "part of the run is not in this: " + first + (more == 0 ? "" : " And " + std::to_string(more) + " more;") +
         " run-reader verify tells what is lost.";
}

// Tables without a row would say nothing; lists of events say themselves that none passes.
std::string absent_ranks(const Options& options, const reader::Run& run) {
  if (options.filter.ranks.empty() || options.command == Command::kEvents || options.command == Command::kDump) {
    return "";
  }
  std::vector<std::int32_t> ranks;
  for (const reader::Trace& trace : run.traces()) {
    if (options.filter.takes_rank(trace.rank())) return "";
    if (trace.rank() >= 0) ranks.push_back(trace.rank());
  }
  return ranks.empty() ? "--rank: no process of this run has a rank."
                       : "--rank: this run has no such rank; it has " + ranks_phrase(ranks) + ".";
}

}  // namespace

int run_reader(const std::vector<std::string>& arguments, std::ostream& out, std::ostream& err, bool terminal) {
  CommandLine line = parse_command_line(arguments);
  if (!line.options) {
    (line.exit_code == kExitFine ? out : err) << line.text;
    return line.exit_code;
  }
  Options& options = *line.options;
  options.colour = terminal;
  if (options.command == Command::kImport) return run_import(options.files, options.output, out, err);
  if (options.command == Command::kCheck) {
    if (const auto done = check_without_run(options, out, err)) return *done;
    options.files = {options.run};
  }
  std::optional<ForeignRun> foreign;
  reader::OpenOptions opening;
  if (const std::string complaint = several_recordings(options.files); !complaint.empty()) {
    err << "run-reader: " << printable(complaint) << '\n';
    return kExitUsage;
  }
  if (need_import(options.files)) {
    foreign = ForeignRun::import(options.files, err);
    if (!foreign) return kExitUsage;
    options.run = foreign->directory();
  }
  ProgressLine progress(err, terminal && isatty(STDERR_FILENO) == 1);
  opening.progress = [&](std::size_t done, std::size_t all) { progress.show("opening trace", done, all); };
  const reader::Result<reader::Run> run = reader::Run::open(options.run, opening);
  if (!run.ok()) {
    err << "run-reader: " << why_no_run(options.run, run.status()) << '\n';
    return kExitUsage;
  }
  if (const std::string complaint = absent_ranks(options, *run); !complaint.empty()) {
    err << "run-reader: " << complaint << '\n';
    return kExitUsage;
  }
  const checks::Subject subject(*run,
                                [&](std::size_t done, std::size_t all) { progress.show("reading trace", done, all); });
  int status = dispatch({options, *run, subject, out, err});
  if (status == kExitFine && foreign && foreign->data_lost()) status = kExitInconclusive;
  if (!tells_losses(options.command)) {
    const reader::Stats stats = run->stats();
    if (stats.data_lost() && status == kExitFine) status = kExitInconclusive;
    if (stats.data_lost() && status != kExitUsage)
      err << "run-reader: " << wrapped(printable(losses(stats)), 2) << '\n';
  }
  out.flush();
  if (!out) {
    if (errno == EPIPE) return status;  // whoever read the pipe had enough
    err << "run-reader: the output could not be written whole: is the disk full, or the reader of the pipe gone?\n";
    return kExitUsage;
  }
  return status;
}

}  // namespace plumbline::tools
