#include "reader/import/import.hpp"

#include <filesystem>
#include <mutex>
#include <system_error>

#include "reader/import/process_writer.hpp"
#include "reader/import/source_files.hpp"
#include "reader/parallel.hpp"

namespace plumbline::reader::imports {
namespace {

namespace fs = std::filesystem;

// When nothing carries a time: some time, so that no event is at 0, which means "not known".
constexpr std::uint64_t kSomeTime = 1'000'000'000'000;

Status check_target(const std::string& directory) {
  std::error_code error;
  const fs::file_status status = fs::status(directory, error);
  if (status.type() == fs::file_type::not_found) return {};
  if (!fs::is_directory(status)) return {Code::kForeign, directory + " is there already, and is not a directory."};
  if (!fs::is_empty(directory, error) || error)
    return {Code::kForeign, directory + " is there already and not empty; name a new directory."};
  return {};
}

}  // namespace

Result<ImportReport> import_files(const std::vector<std::string>& paths, const std::string& directory,
                                  const ImportOptions& options) {
  if (Status status = check_target(directory); !status.ok()) return status;
  ImportReport report;
  SourceFiles sources(report);
  sources.take(paths);
  const std::vector<std::vector<SourceFiles::Piece>> processes = sources.processes();
  const std::uint64_t fallback = sources.earliest_ns() == 0 ? kSomeTime : sources.earliest_ns();

  std::mutex mutex;  // of report, failure and progress
  Status failure;
  std::size_t done = 0;
  parallel_for(processes.size(), options.threads, [&](std::size_t i) {
    ImportedProcess process;
    bool any = false;
    for (const SourceFiles::Piece& piece : processes[i]) {
      Result<ImportedProcess> part = piece();
      if (part.ok()) {
        process.merge(std::move(*part));
        any = true;
        continue;
      }
      const std::lock_guard lock(mutex);
      report.problems.push_back(part.status().message());
      report.data_lost = true;
    }
    // Different for each process, as times of starts are, and before its first event.
    const std::uint64_t first = first_time(process);
    const std::uint64_t start = (first == 0 ? fallback : first) - processes.size() + i;
    const Status written = any ? write_process(process, directory, start) : Status();
    const std::lock_guard lock(mutex);
    if (!written.ok()) failure = written;
    report.processes += any && written.ok() ? 1 : 0;
    if (options.progress) options.progress(++done, processes.size());
  });
  if (!failure.ok()) return failure;
  if (report.processes == 0) {
    if (report.problems.empty()) return Status(Code::kEmpty, "There are no files to import.");
    const std::size_t others = report.problems.size() - 1;
    return Status(Code::kForeign, report.problems.front() +
                                      (others == 0 ? "" : " (and " + std::to_string(others) + " more such files)"));
  }
  return report;
}

}  // namespace plumbline::reader::imports
