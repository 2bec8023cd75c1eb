// Turns evidence that other programs have left (flight recorder dumps, memory snapshots, profiles, stacks, logs) into a
// run directory, so that the checks see it as they see traces of Plumbline's own.
//
//   Result<ImportReport> report = import_files({"dumps/"}, "run");
//   if (!report.ok()) return fail(report.status().message());
//   Result<Run> run = Run::open("run");
//
// What a file is, it says itself; one that cannot be used is named in the report with what it looks like, and the
// others are imported all the same. Files about one rank become one trace. To the checks an imported trace differs in
// its facts alone:
//   source.format    what it was made from: "PyTorch flight recorder, py-spy"
//   source.version   of the format, where it has one
//   source.lacks     what the formats cannot say: "starts, allocations, exit"
//   group_status.N   how far the process has come in group N, see reader/group_status.hpp
//   log.*            what a log said of the process, word for word
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "reader/status.hpp"

namespace plumbline::reader::imports {

struct ImportedFile {
  std::string path;
  std::string what;        // "a PyTorch flight recorder dump", "text with 2 stacks and 1 exit"
  std::vector<int> ranks;  // whose it is, as far as known
};

struct ImportReport {
  std::vector<ImportedFile> files;    // those that were used
  std::vector<std::string> problems;  // one sentence for each file that was not, or not wholly
  std::size_t processes = 0;          // traces written
  bool data_lost = false;             // a problem was more than a file that is not needed
};

struct ImportOptions {
  unsigned threads = 0;                                               // 0: as many as there are cores
  std::function<void(std::size_t done, std::size_t all)> progress{};  // from any thread, one at a time
};

// `paths`: files, and directories whose files are taken. `directory` is made; it must not exist, or be empty.
Result<ImportReport> import_files(const std::vector<std::string>& paths, const std::string& directory,
                                  const ImportOptions& options = {});

}  // namespace plumbline::reader::imports
