#include "tools/run_reader/run_reader.hpp"

#include <cerrno>
#include <ostream>

#include "tools/run_reader/command_line.hpp"
#include "tools/run_reader/commands.hpp"
#include "tools/run_reader/exit_code.hpp"
#include "tools/run_reader/text.hpp"

namespace plumbline::tools {
namespace {

int dispatch(const Context& context) {
  switch (context.options.command) {
    case Command::kSummary:
      return run_summary(context);
    case Command::kRanks:
      return run_ranks(context);
    case Command::kCollectives:
      return run_collectives(context);
    case Command::kAllocations:
      return run_allocations(context);
    case Command::kOptimizer:
      return run_optimizer(context);
    case Command::kRanges:
      return run_ranges(context);
    case Command::kEvents:
      return run_events(context);
    case Command::kDump:
      return run_dump(context);
    case Command::kExport:
      return run_export(context);
    case Command::kVerify:
      return run_verify(context);
  }
  return kExitUsage;
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
  const reader::Result<reader::Run> run = reader::Run::open(options.run);
  if (!run.ok()) {
    err << "run-reader: " << printable(run.status().message()) << '\n';
    return kExitUsage;
  }
  const checks::Subject subject(*run);
  const int status = dispatch({options, *run, subject, out, err});
  out.flush();
  if (!out) {
    if (errno == EPIPE) return status;  // whoever read the pipe had enough
    err << "run-reader: the output could not be written whole: is the disk full, or the reader of the pipe gone?\n";
    return kExitUsage;
  }
  return status;
}

}  // namespace plumbline::tools
