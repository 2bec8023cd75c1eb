// The files that were given for an import, recognised and sorted by the process that they tell of.
#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "reader/import/file_kind.hpp"
#include "reader/import/flight_survey.hpp"
#include "reader/import/import.hpp"
#include "reader/import/imported_process.hpp"

namespace plumbline::reader::imports {

class SourceFiles {
 public:
  explicit SourceFiles(ImportReport& report) : report_(report) {}

  // Recognises every file and reads what has to be known of all of them before one is imported.
  void take(const std::vector<std::string>& paths);

  // What is known of one process: pieces that are read when they are needed, for they can be large.
  using Piece = std::function<Result<ImportedProcess>()>;
  std::vector<std::vector<Piece>> processes();
  // The earliest time that the first look has met; 0: none.
  std::uint64_t earliest_ns() const { return earliest_ns_; }

 private:
  struct Entry {
    int rank = -1;
    std::uint32_t pid = 0;
    Piece piece;
  };
  struct FlightFile {
    std::string path;
    FileKind kind;
    FlightSummary summary;
  };

  void take_file(const std::string& path);
  void take_flight(const std::string& path, FileKind kind);
  void take_snapshot(const std::string& path);
  void take_kineto(const std::string& path, const std::string& beginning);
  void take_json(const std::string& path, FileKind kind);
  void take_text(const std::string& path);
  void take_processes(const std::string& path, const std::string& what, std::vector<ImportedProcess> processes);
  void survey_flights();
  void used(const std::string& path, std::string what, std::vector<int> ranks);
  void problem(std::string sentence, bool lost = true);
  // The same while pieces are read, from any thread.
  void later_problem(std::string sentence);

  ImportReport& report_;
  FlightSurvey survey_;
  std::map<int, std::vector<FlightFile>> flights_;  // by rank
  std::vector<Entry> entries_;
  std::uint64_t earliest_ns_ = 0;
  std::mutex later_;
};

// All regular files of the given files and directories, sorted, hidden ones left out. What cannot be looked at is told.
std::vector<std::string> expand_paths(const std::vector<std::string>& paths, std::vector<std::string>& problems);

}  // namespace plumbline::reader::imports
