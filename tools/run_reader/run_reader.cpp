#include "tools/run_reader/run_reader.hpp"

#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <optional>
#include <ostream>

#include "reader/run_files.hpp"
#include "tools/run_reader/check.hpp"
#include "tools/run_reader/command_line.hpp"
#include "tools/run_reader/commands.hpp"
#include "tools/run_reader/exit_code.hpp"
#include "tools/run_reader/foreign_run.hpp"
#include "tools/run_reader/import.hpp"
#include "tools/run_reader/progress.hpp"
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

// What to give instead of a run that is not there.
std::string remedy(const std::string& path, reader::Code code) {
  if (code != reader::Code::kNotFound) return "";
  std::string text = " Give a run directory (plumbline-run-..) or a trace file (.plt).";
  const std::string parent = std::filesystem::path(path).parent_path().string();
  const std::vector<std::string> runs = reader::runs_below(parent.empty() ? "." : parent);
  if (!runs.empty()) text += " There is " + std::filesystem::path(runs.back()).lexically_normal().string() + ".";
  return text;
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
  if (need_import(options.files)) {
    foreign = ForeignRun::import(options.files, err);
    if (!foreign) return kExitUsage;
    options.run = foreign->directory();
  }
  ProgressLine progress(err, terminal && isatty(STDERR_FILENO) == 1);
  reader::OpenOptions opening;
  opening.progress = [&](std::size_t done, std::size_t all) { progress.show("opening trace", done, all); };
  const reader::Result<reader::Run> run = reader::Run::open(options.run, opening);
  if (!run.ok()) {
    err << "run-reader: " << printable(run.status().message() + remedy(options.run, run.status().code())) << '\n';
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
  out.flush();
  if (!out) {
    if (errno == EPIPE) return status;  // whoever read the pipe had enough
    err << "run-reader: the output could not be written whole: is the disk full, or the reader of the pipe gone?\n";
    return kExitUsage;
  }
  return status;
}

}  // namespace plumbline::tools
