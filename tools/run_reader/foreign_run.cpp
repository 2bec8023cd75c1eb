#include "tools/run_reader/foreign_run.hpp"

#include <stdlib.h>

#include <filesystem>
#include <ostream>
#include <system_error>
#include <utility>

#include "reader/run_files.hpp"
#include "tools/run_reader/import.hpp"

namespace plumbline::tools {

namespace fs = std::filesystem;

bool need_import(const std::vector<std::string>& paths) {
  if (paths.size() != 1) return paths.size() > 1;
  std::error_code error;
  const fs::file_status status = fs::status(paths.front(), error);
  if (fs::is_regular_file(status)) return fs::file_size(paths.front(), error) != 0 && !are_native(paths);
  if (!fs::is_directory(status) || are_native(paths) || !reader::runs_below(paths.front()).empty()) return false;
  for (fs::directory_iterator it(paths.front(), error), end; !error && it != end; it.increment(error)) {
    std::error_code unreadable;
    if (it->is_regular_file(unreadable) && !it->path().filename().string().starts_with('.')) return true;
  }
  return false;
}

std::optional<ForeignRun> ForeignRun::import(const std::vector<std::string>& paths, std::ostream& err) {
  std::error_code error;
  const fs::path place = fs::temp_directory_path(error);
  std::string scratch = (place / "plumbline-import-XXXXXX").string();
  if (error || mkdtemp(scratch.data()) == nullptr) {
    err << "run-reader: " << (error ? "the temporary directory" : place.string())
        << " cannot be written to, and other programs' files are imported there; set TMPDIR to another directory.\n";
    return std::nullopt;
  }
  ForeignRun run(scratch, paths.front());
  const auto report = import_to(paths, run.directory(), err);
  if (!report) return std::nullopt;
  run.data_lost_ = report->data_lost;
  return run;
}

ForeignRun::ForeignRun(std::string scratch, const std::string& given) : scratch_(std::move(scratch)) {
  const std::string name = (fs::path(given).lexically_normal() / "").parent_path().filename().string();
  directory_ = scratch_ + "/" + (name.empty() || name.starts_with('.') ? "run" : name);
}

ForeignRun::ForeignRun(ForeignRun&& other) noexcept
    : scratch_(std::exchange(other.scratch_, {})),
      directory_(std::move(other.directory_)),
      data_lost_(other.data_lost_) {}

ForeignRun& ForeignRun::operator=(ForeignRun&& other) noexcept {
  std::swap(scratch_, other.scratch_);
  std::swap(directory_, other.directory_);
  data_lost_ = other.data_lost_;
  return *this;
}

ForeignRun::~ForeignRun() {
  std::error_code error;
  if (!scratch_.empty()) fs::remove_all(scratch_, error);
}

}  // namespace plumbline::tools
