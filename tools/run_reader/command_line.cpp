#include "tools/run_reader/command_line.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <system_error>

#include "reader/names.hpp"
#include "tools/run_reader/complaint.hpp"
#include "tools/run_reader/exit_code.hpp"
#include "tools/run_reader/text.hpp"

namespace plumbline::tools {
namespace {

constexpr const char* kDescription =
    "Reads what a training job recorded: RUN is a run directory, or one trace file.\n"
    "Exit status: 0 fine, 1 findings, 2 wrong usage or nothing readable, 3 inconclusive or data lost.";

std::optional<std::int64_t> parse_number(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || value < 0) return std::nullopt;
  return value;
}

// False when it is no time: nan, say, which is neither before nor after another.
bool parse_seconds(std::string_view text, double& seconds) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  return error == std::errc{} && end == text.data() + text.size() && std::isfinite(seconds) && seconds >= 0;
}

// The texts of options, before they are understood.
struct Raw {
  std::optional<std::string> ranks;
  std::optional<std::string> steps;
  std::optional<std::string> from;
  std::optional<std::string> to;
  std::vector<std::string> kinds;
  std::string limit = "200";  // of events: a terminal wants an end
};

// An empty text is a text too, and no absent option.
void add_text(CLI::App& command, const char* name, std::optional<std::string>& to, const char* help) {
  command.add_option_function<std::string>(
      name, [&to](const std::string& text) { to = text; }, help);
}

void add_window(CLI::App& command, Raw& raw) {
  add_text(command, "--from", raw.from, "only from this time on, seconds since the run's start");
  add_text(command, "--to", raw.to, "only up to this time, seconds since the run's start");
}

// By what sizes of memory requests are explained.
void add_dimensions(CLI::App& command, Options& options) {
  command.add_option("--config", options.config, "the model's config.json, to explain sizes of requests by");
  command.add_option("--dims", options.dims, "dimensions: batch=8,hidden=4096,length@12=10600 (@STEP or @STEP/RANK)");
}

void add_filters(CLI::App& command, Raw& raw, bool limit) {
  add_text(command, "--step", raw.steps, "only these logical steps, such as 3 or 10-20");
  add_window(command, raw);
  command.add_option("--kind", raw.kinds, "only events of this kind, as collective or alloc_failed; repeatable")
      ->delimiter(',');
  if (limit) command.add_option("--limit", raw.limit, "at most this many events, 0: all")->capture_default_str();
}

// As it can be shown in a sentence: '' when it is empty.
std::string shown(const std::string& text) { return text.empty() ? "''" : printable(text); }

// Empty when all is understood.
std::string understand(const Raw& raw, Filter& filter) {
  if (raw.ranks) {
    const auto ranks = parse_intervals(*raw.ranks);
    if (!ranks) return "--rank " + shown(*raw.ranks) + ": give ranks as 3, 0-7 or 0,2,8-15.";
    filter.ranks = *ranks;
  }
  if (raw.steps) {
    const auto steps = parse_intervals(*raw.steps);
    if (!steps) return "--step " + shown(*raw.steps) + ": give steps as 3, 10-20 or 0,2,8-15.";
    filter.steps = *steps;
  }
  const auto limit = parse_number(raw.limit);
  if (!limit) return "--limit " + shown(raw.limit) + ": give a number of events, 0 for all.";
  filter.limit = static_cast<std::uint64_t>(*limit);
  for (const std::string& name : raw.kinds) {
    const auto kind = reader::kind_named(name);
    if (!kind || *kind < recorder::Kind::kAlloc) {
      std::string known;
      for (int number = static_cast<int>(recorder::Kind::kAlloc);
           number <= static_cast<int>(recorder::Kind::kDeviceWork); ++number) {
        const auto one = static_cast<recorder::Kind>(number);
        const bool definition =
            one == recorder::Kind::kGroup || one == recorder::Kind::kText || one == recorder::Kind::kFact;
        if (!definition) known += (known.empty() ? "" : ", ") + std::string(reader::name_of(one));
      }
      return "--kind " + shown(name) + ": there is no such kind of event. There are: " + known + ".";
    }
    filter.kinds.push_back(*kind);
  }
  if ((raw.from && !parse_seconds(*raw.from, filter.from_s)) || (raw.to && !parse_seconds(*raw.to, filter.to_s)))
    return "--from and --to take seconds since the run's start, such as 0 or 12.5.";
  if (filter.from_s > filter.to_s) return "--from is later than --to.";
  return {};
}

bool wants_output(Command command) {
  return command == Command::kExport || command == Command::kReport || command == Command::kImport;
}

}  // namespace

std::optional<std::vector<Interval>> parse_intervals(const std::string& text) {
  std::vector<Interval> intervals;
  std::size_t start = 0;
  while (start <= text.size()) {
    const std::size_t end = std::min(text.find(',', start), text.size());
    const std::string_view part = std::string_view(text).substr(start, end - start);
    const std::size_t dash = part.find('-');
    const auto first = parse_number(part.substr(0, dash));
    const auto last = dash == std::string_view::npos ? first : parse_number(part.substr(dash + 1));
    if (!first || !last || *first > *last) return std::nullopt;
    intervals.push_back({*first, *last});
    start = end + 1;
  }
  return intervals;
}

CommandLine parse_command_line(const std::vector<std::string>& arguments) {
  struct Entry {
    Command command;
    const char* name;
    const char* help;
  };
  constexpr Entry kCommands[] = {
      {Command::kDiagnose, "diagnose", "what went wrong and where, from the run down to the line: start here"},
      {Command::kSummary, "summary", "what went wrong, what ran, what is not covered"},
      {Command::kRanks, "ranks", "every process: rank, host, versions, how it ended"},
      {Command::kCollectives, "collectives", "collectives by group and operation; those that did not finish"},
      {Command::kAllocations, "allocations", "allocator: peaks, counts, requests that failed"},
      {Command::kMemory, "memory", "memory by step: peak and holders, leaks, the request that failed"},
      {Command::kOptimizer, "optimizer", "optimizer steps with their settings; logical steps and their times"},
      {Command::kRanges, "ranges", "named ranges (forward, data loader, record_function): counts, times"},
      {Command::kStacks, "stacks", "stacks of threads that stalled, crashed or asked for much memory"},
      {Command::kStragglers, "stragglers", "ranks that keep the others waiting; steps that became slower"},
      {Command::kEvents, "events", "single events in the order of time, with filters"},
      {Command::kDump, "dump", "everything as JSON lines, streamed"},
      {Command::kExport, "export", "writes the run in another program's format"},
      {Command::kReport, "report", "one HTML page: verdicts, lanes, wavefront, memory, steps, stacks"},
      {Command::kVerify, "verify", "is the trace whole: format, frames, checksums, drops"},
      {Command::kImport, "import", "makes a run of other programs' dumps, profiles, stacks and logs"},
      {Command::kCheck, "check", "one check by name, or all; compares checkpoints; alone: their list"},
  };

  Options options;
  Raw raw;
  std::optional<std::string> junit;
  bool perfetto = false;
  bool all = false;
  std::vector<std::string> words;  // of check: NAME RUN, or RUN with --all
  CLI::App app{kDescription, "run-reader"};
  app.set_version_flag("--version", "run-reader " PLUMBLINE_VERSION);
  app.require_subcommand(1);
  for (const Entry& entry : kCommands) {
    CLI::App* command = app.add_subcommand(entry.name, entry.help);
    if (entry.command == Command::kImport) {
      command->add_option("files", options.files, "files, and directories of files")->required()->type_name("FILE");
    } else if (entry.command == Command::kCheck) {
      command->add_option("words", words, "name of the check, and a run or checkpoint")->type_name("NAME RUN");
    } else if (entry.command == Command::kDiagnose || entry.command == Command::kReport) {
      command->add_option("run", options.files, "run directory or trace file, or files of other programs")
          ->required()
          ->type_name("RUN");
    } else {
      command->add_option("run", options.run, "run directory or trace file")->required()->type_name("RUN");
    }
    if (entry.command != Command::kSummary && entry.command != Command::kDiagnose &&
        entry.command != Command::kVerify && entry.command != Command::kImport && entry.command != Command::kCheck) {
      add_text(*command, "--rank", raw.ranks, "only these ranks, such as 3 or 0,8-15");
    }
    switch (entry.command) {
      case Command::kExport:
        add_window(*command, raw);
        command->add_flag("--perfetto", perfetto, "a protobuf trace that ui.perfetto.dev opens");
        command->add_option("-o,--output", options.output, "file to write, - for standard output")->required();
        break;
      case Command::kImport:
        command->add_option("-o,--output", options.output, "run directory to make")->required();
        break;
      case Command::kDiagnose:
        command->add_flag("--json", options.json, "JSON instead of text");
        add_text(*command, "--junit", junit, "also write the verdicts to this file, as test cases");
        add_dimensions(*command, options);
        break;
      case Command::kCheck:
        command->add_flag("--all", all, "every check that applies");
        command->add_option("--reference", options.references, "the original: a checkpoint directory or file")
            ->allow_extra_args(false)
            ->type_name("PATH");
        command->add_option("--before", options.before, "of load: a checkpoint of the state before the load")
            ->type_name("PATH");
        command->add_flag("--json", options.json, "JSON instead of text");
        add_text(*command, "--junit", junit, "also write the verdicts to this file, as test cases");
        break;
      case Command::kReport:
        command->add_option("-o,--output", options.output, "file to write, - for standard output")->required();
        add_dimensions(*command, options);
        break;
      case Command::kMemory:
        add_dimensions(*command, options);
        command->add_flag("--json", options.json, "JSON instead of text");
        break;
      case Command::kEvents:
        add_filters(*command, raw, true);
        command->add_flag("--json", options.json, "JSON lines instead of text");
        break;
      case Command::kDump:
        add_filters(*command, raw, false);
        command->add_flag("--json", options.json, "accepted for likeness: dump always writes JSON lines");
        break;
      default:
        command->add_flag("--json", options.json, "JSON instead of text");
    }
    command->callback([&options, command = entry.command] { options.command = command; });
  }

  CommandLine result;
  if (!arguments.empty() && !arguments.front().starts_with('-')) {
    std::vector<std::string> names;
    for (const Entry& entry : kCommands) names.emplace_back(entry.name);
    if (std::find(names.begin(), names.end(), arguments.front()) == names.end()) {
      result.exit_code = kExitUsage;
      result.text = "run-reader: there is no command " + shown(arguments.front()) +
                    "; there are: " + joined(names, ", ") + "; run-reader --help tells what they do.\n";
      std::error_code error;
      if (std::filesystem::exists(arguments.front(), error))
        result.text = "run-reader: what shall be done with " + shown(arguments.front()) +
                      "? To learn what went wrong, run-reader diagnose " + shown(arguments.front()) +
                      "; run-reader --help tells the other commands.\n";
      return result;
    }
  }
  try {
    std::vector<std::string> reversed(arguments.rbegin(), arguments.rend());
    app.parse(reversed);
  } catch (const CLI::CallForHelp&) {
    const auto chosen = app.get_subcommands();
    result.text = chosen.empty() ? app.help() : chosen.front()->help();
    return result;
  } catch (const CLI::CallForVersion& version) {
    result.text = std::string(version.what()) + "\n";
    return result;
  } catch (const CLI::ParseError& error) {
    result.exit_code = kExitUsage;
    result.text = "run-reader: " + complaint_of(app, error) + "\n";
    return result;
  }
  std::string complaint = understand(raw, options.filter);
  if (options.files.size() == 1) options.run = options.files.front();
  if (options.command == Command::kCheck) {
    if (!all && !words.empty()) options.check = words.front();
    const std::size_t before_run = all ? 0 : 1;
    if (words.size() > before_run) options.run = words[before_run];
    if (words.size() > before_run + 1) complaint = "check: give a name and one run, or --all and one run.";
    if (all && words.empty()) complaint = "check --all: say of what, a run or a checkpoint.";
  }
  if (options.command != Command::kEvents) options.filter.limit = 0;
  if (options.command == Command::kExport && !perfetto) complaint = "export: say which format, --perfetto.";
  if (wants_output(options.command) && options.output.empty()) complaint = "-o '': name a file.";
  if (junit && (junit->empty() || *junit == "-")) complaint = "--junit " + shown(*junit) + ": name a file.";
  options.junit = junit.value_or("");
  if (!complaint.empty()) {
    result.exit_code = kExitUsage;
    result.text = "run-reader: " + complaint + "\n";
    return result;
  }
  result.options = std::move(options);
  return result;
}

}  // namespace plumbline::tools
