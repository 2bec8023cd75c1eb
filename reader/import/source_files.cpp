#include "reader/import/source_files.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <memory>
#include <system_error>

#include "reader/import/byte_source.hpp"
#include "reader/import/flight_file.hpp"
#include "reader/import/flight_recorder.hpp"
#include "reader/import/kineto.hpp"
#include "reader/import/kineto_reader.hpp"
#include "reader/import/memory_snapshot.hpp"
#include "reader/import/process_writer.hpp"
#include "reader/import/py_spy_json.hpp"
#include "reader/import/text/log_processes.hpp"
#include "reader/import/text/ras_comm.hpp"
#include "reader/import/text/text_import.hpp"

namespace plumbline::reader::imports {
namespace {

namespace fs = std::filesystem;

// The year in which a file was last written: logs leave it out of their times.
int year_of(const std::string& path) {
  struct stat info {};
  std::tm date{};
  if (stat(path.c_str(), &info) != 0 || gmtime_r(&info.st_mtime, &date) == nullptr) return 1970;
  return date.tm_year + 1900;
}

// Of several dumps of one rank: which one tells more of what went wrong?
bool tells_more(const FlightSummary& a, const FlightSummary& b) {
  if ((a.entries == 0) != (b.entries == 0)) return b.entries == 0;
  if (a.newest_ns != b.newest_ns) return a.newest_ns > b.newest_ns;
  // The one that was made earlier: once a call has timed out, it counts as finished.
  if (a.finished != b.finished) return a.finished < b.finished;
  if (a.frames != b.frames) return a.frames;
  return a.entries > b.entries;
}

}  // namespace

std::vector<std::string> expand_paths(const std::vector<std::string>& paths, std::vector<std::string>& problems) {
  std::vector<std::string> files;
  for (const std::string& path : paths) {
    std::error_code error;
    const fs::file_status status = fs::status(path, error);
    if (path.empty()) {
      problems.emplace_back("The name of a file is empty.");
    } else if (status.type() == fs::file_type::not_found) {
      problems.push_back(path + " does not exist.");
    } else if (fs::is_directory(status)) {
      std::vector<std::string> found;
      fs::directory_iterator it(path, error);
      for (const fs::directory_iterator end; !error && it != end; it.increment(error)) {
        std::error_code unreadable;
        if (it->is_regular_file(unreadable) && !it->path().filename().string().starts_with('.'))
          found.push_back(it->path().string());
      }
      if (error) problems.push_back(path + " cannot be read: " + error.message() + ".");
      if (!error && found.empty()) problems.push_back(path + " itself holds no files.");
      std::sort(found.begin(), found.end());
      files.insert(files.end(), found.begin(), found.end());
    } else {
      files.push_back(path);
    }
  }
  return files;
}

void SourceFiles::used(const std::string& path, std::string what, std::vector<int> ranks) {
  report_.files.push_back({path, std::move(what), std::move(ranks)});
}

void SourceFiles::problem(std::string sentence, bool lost) {
  report_.problems.push_back(std::move(sentence));
  report_.data_lost = report_.data_lost || lost;
}

void SourceFiles::take(const std::vector<std::string>& paths) {
  std::vector<std::string> unreadable;
  const std::vector<std::string> files = expand_paths(paths, unreadable);
  for (std::string& sentence : unreadable) problem(std::move(sentence));
  for (const std::string& path : files) take_file(path);
  survey_flights();
}

void SourceFiles::take_file(const std::string& path) {
  const Result<std::string> beginning = read_beginning(path, kBeginning);
  if (!beginning.ok()) return problem(beginning.status().message());
  const RecognisedFile file = recognise(*beginning);
  switch (file.kind) {
    case FileKind::kFlightPickle:
    case FileKind::kFlightJson:
      return take_flight(path, file.kind);
    case FileKind::kMemorySnapshot:
      return take_snapshot(path);
    case FileKind::kKineto:
      return take_kineto(path, *beginning);
    case FileKind::kPySpyJson:
    case FileKind::kRasJson:
      return take_json(path, file.kind);
    case FileKind::kText:
      return take_text(path);
    default:
      return problem(path + " is " + (file.looks_like.empty() ? std::string(name_of(file.kind)) : file.looks_like) +
                     "; it was left out.");
  }
}

void SourceFiles::take_flight(const std::string& path, FileKind kind) {
  const Result<PlainData> data = read_flight_file(path, kind);
  if (!data.ok()) return problem(data.status().message());
  const int named = digits_at_end_of_name(path);
  const int told = flight_rank(*data);
  if (told >= 0 && named >= 0 && named != told)
    problem(path + " is named as of rank " + std::to_string(named) + ", but its groups are those of rank " +
                std::to_string(told) + "; it was taken as of rank " + std::to_string(told) + ".",
            false);
  const int rank = told >= 0 ? told : named;
  if (rank < 0)
    return problem(path +
                   " is a PyTorch flight recorder dump, but neither its name nor its groups say of which rank; "
                   "let its name end in the rank's number.");
  flights_[rank].push_back({path, kind, summarize_flight_dump(*data, rank)});
}

void SourceFiles::take_processes(const std::string& path, const std::string& what,
                                 std::vector<ImportedProcess> processes) {
  std::vector<int> ranks;
  for (ImportedProcess& process : processes) {
    if (process.rank >= 0) ranks.push_back(process.rank);
    if (const std::uint64_t time_ns = first_time(process); time_ns != 0)
      earliest_ns_ = earliest_ns_ == 0 ? time_ns : std::min(earliest_ns_, time_ns);
    const int rank = process.rank;
    const std::uint32_t pid = process.pid;
    entries_.push_back({rank, pid, [known = std::make_shared<ImportedProcess>(std::move(process))] {
                          return Result<ImportedProcess>(*known);
                        }});
  }
  used(path, what, std::move(ranks));
}

void SourceFiles::take_kineto(const std::string& path, const std::string& beginning) {
  int rank = kineto_rank(beginning);
  if (rank < 0) rank = rank_in_name(path);
  used(path, std::string(name_of(FileKind::kKineto)), rank < 0 ? std::vector<int>() : std::vector<int>{rank});
  entries_.push_back({rank, 0, [this, path, rank]() -> Result<ImportedProcess> {
                        Result<ByteSource> source = ByteSource::open(path);
                        if (!source.ok()) return source.status();
                        KinetoImport read = import_kineto(*source, rank);
                        if (read.events == 0 && !read.status.ok()) return read.status;
                        if (!read.status.ok()) later_problem(read.status.message() + " What comes before it was read.");
                        return std::move(read.process);
                      }});
}

void SourceFiles::later_problem(std::string sentence) {
  const std::lock_guard lock(later_);
  problem(std::move(sentence));
}

void SourceFiles::take_json(const std::string& path, FileKind kind) {
  const Result<PlainData> data = read_plain_file(path, false);
  if (!data.ok()) return problem(data.status().message());
  const int rank = rank_in_name(path);
  std::vector<ImportedProcess> processes;
  if (kind == FileKind::kPySpyJson) {
    processes = import_py_spy_json(*data, rank);
  } else {
    LogProcesses found(rank);
    if (is_ras_json(*data)) add_ras_json(found, *data);
    processes = found.finish();
    for (ImportedProcess& process : processes) process.formats = {"ncclras"};
  }
  if (processes.empty()) return problem(path + " is " + std::string(name_of(kind)) + ", but tells of no process.");
  take_processes(path, std::string(name_of(kind)), std::move(processes));
}

void SourceFiles::take_text(const std::string& path) {
  Result<ByteSource> source = ByteSource::open(path);
  if (!source.ok()) return problem(source.status().message());
  TextImport text = import_text(*source, rank_in_name(path), year_of(path));
  if (!source->status().ok()) problem(source->status().message());
  if (text.cut_line) problem(path + " has lines of more than 64 KiB; only their beginning was looked at.", false);
  if (text.processes.empty() || text.what.empty())
    return problem(path + " is text, but none of its lines is of a stack, an ncclras report, or a log that is known.",
                   false);
  take_processes(path, text.what, std::move(text.processes));
}

void SourceFiles::take_snapshot(const std::string& path) {
  const int rank = rank_in_name(path);
  used(path, std::string(name_of(FileKind::kMemorySnapshot)), rank < 0 ? std::vector<int>() : std::vector<int>{rank});
  entries_.push_back({rank, 0, [path, rank]() -> Result<ImportedProcess> {
                        const Result<PlainData> data = read_plain_file(path, true);
                        if (!data.ok()) return data.status();
                        if (!is_memory_snapshot(*data))
                          return Status(Code::kForeign, path + " looks like a memory snapshot, but has no segments.");
                        return import_memory_snapshot(*data, rank);
                      }});
}

void SourceFiles::survey_flights() {
  for (auto& [rank, files] : flights_) {
    std::stable_sort(files.begin(), files.end(),
                     [](const FlightFile& a, const FlightFile& b) { return tells_more(a.summary, b.summary); });
    for (std::size_t i = 1; i < files.size(); ++i)
      problem(files[i].path + " is another dump of rank " + std::to_string(rank) + "; " + files[0].path +
                  (files[i].summary.entries == 0 ? " has calls and this one has none." : " tells more and was used."),
              false);
    const FlightFile& best = files.front();
    const Result<PlainData> data = read_flight_file(best.path, best.kind);
    if (!data.ok()) {
      problem(data.status().message());
      continue;
    }
    survey_.add(best.summary, *data);
    if (best.summary.newest_ns != 0)
      earliest_ns_ = earliest_ns_ == 0 ? best.summary.newest_ns : std::min(earliest_ns_, best.summary.newest_ns);
    used(best.path, std::string(name_of(best.kind)) + ", version " + best.summary.version, {rank});
    entries_.push_back({rank, 0, [this, rank = rank, path = best.path, kind = best.kind]() -> Result<ImportedProcess> {
                          const Result<PlainData> dump = read_flight_file(path, kind);
                          if (!dump.ok()) return dump.status();
                          return import_flight_dump(*dump, rank, survey_);
                        }});
  }
  survey_.finish();
}

std::vector<std::vector<SourceFiles::Piece>> SourceFiles::processes() {
  std::map<std::uint32_t, int> rank_of_pid;
  for (const Entry& entry : entries_)
    if (entry.rank >= 0 && entry.pid != 0) rank_of_pid.emplace(entry.pid, entry.rank);
  // By rank; processes whose rank nothing tells by their pid, and the others each alone.
  std::map<std::pair<int, std::uint64_t>, std::vector<Piece>> groups;
  std::uint64_t alone = std::uint64_t{1} << 32;
  for (const Entry& entry : entries_) {
    int rank = entry.rank;
    if (const auto known = rank_of_pid.find(entry.pid); rank < 0 && entry.pid != 0 && known != rank_of_pid.end())
      rank = known->second;
    const std::uint64_t key = rank >= 0 ? 0 : entry.pid != 0 ? entry.pid : ++alone;
    groups[{rank, key}].push_back(entry.piece);
  }
  std::vector<std::vector<Piece>> processes;
  processes.reserve(groups.size());
  for (auto& [key, pieces] : groups) processes.push_back(std::move(pieces));
  return processes;
}

}  // namespace plumbline::reader::imports
