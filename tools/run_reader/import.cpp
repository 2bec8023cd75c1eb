#include "tools/run_reader/import.hpp"

#include <algorithm>
#include <filesystem>
#include <map>
#include <ostream>
#include <system_error>

#include "reader/run_files.hpp"
#include "tools/run_reader/exit_code.hpp"
#include "tools/run_reader/text.hpp"

namespace plumbline::tools {
namespace {

// Many files that cannot be used are mostly of one kind: the first ones tell it.
constexpr std::size_t kMostProblems = 20;

void tell_problems(const std::vector<std::string>& problems, std::ostream& err) {
  for (std::size_t i = 0; i < problems.size() && i < kMostProblems; ++i)
    err << "run-reader: " << wrapped(printable(problems[i]), 2) << '\n';
  if (problems.size() > kMostProblems)
    err << "run-reader: … and " << plural(problems.size() - kMostProblems, "more such file") << ".\n";
}

// One line for each kind of file: how many, and of which ranks.
void tell_files(const reader::imports::ImportReport& report, std::ostream& out) {
  struct Kind {
    std::size_t files = 0;
    std::vector<std::int32_t> ranks;
  };
  std::map<std::string, Kind> kinds;
  for (const reader::imports::ImportedFile& file : report.files) {
    Kind& kind = kinds[file.what];
    ++kind.files;
    kind.ranks.insert(kind.ranks.end(), file.ranks.begin(), file.ranks.end());
  }
  for (auto& [what, kind] : kinds) {
    std::sort(kind.ranks.begin(), kind.ranks.end());
    kind.ranks.erase(std::unique(kind.ranks.begin(), kind.ranks.end()), kind.ranks.end());
    out << wrapped("  " + plural(kind.files, "file") + ": " + printable(what) +
                       (kind.ranks.empty() ? std::string() : " of " + ranks_phrase(kind.ranks)),
                   4)
        << '\n';
  }
}

}  // namespace

bool are_native(const std::vector<std::string>& paths) {
  return std::all_of(paths.begin(), paths.end(), [](const std::string& path) {
    const auto traces = reader::find_traces(path, false);
    return traces.ok() && !traces->empty();
  });
}

std::optional<reader::imports::ImportReport> import_to(const std::vector<std::string>& paths,
                                                       const std::string& directory, std::ostream& err) {
  reader::Result<reader::imports::ImportReport> report = reader::imports::import_files(paths, directory);
  if (!report.ok()) {
    err << "run-reader: " << wrapped(printable(report.status().message()), 2) << '\n';
    return std::nullopt;
  }
  tell_problems(report->problems, err);
  return std::move(*report);
}

int run_import(const std::vector<std::string>& paths, const std::string& directory, std::ostream& out,
               std::ostream& err) {
  const auto report = import_to(paths, directory, err);
  if (!report) return kExitUsage;
  out << plural(report->processes, "process", "processes") << " imported into " << printable(directory) << ":\n";
  tell_files(*report, out);
  return report->data_lost ? kExitInconclusive : kExitFine;
}

}  // namespace plumbline::tools
