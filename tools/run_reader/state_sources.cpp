#include "tools/run_reader/state_sources.hpp"

#include <filesystem>

namespace plumbline::tools {

StateSources::StateSources(const Options& options, const std::set<std::string>& loaded) {
  const std::string path = options.references.empty() ? "" : options.references.front();
  // Another run: what it saved, and its steps.
  std::error_code error;
  if (std::filesystem::is_directory(path + "/captures", error) && !reader::looks_like_checkpoint(path)) {
    reader::Result<reader::RunCaptures> captures = reader::RunCaptures::open(path);
    if (captures.ok() && !captures->empty()) {
      run_ = std::move(*captures);
      captured_ = captured_states(*run_, "save", loaded);
    } else {
      complaint_ = path + " is a run that captured nothing.";
    }
  } else {
    open(path, reference_);
  }
  open(options.before, before_);
}

const reader::Checkpoint* StateSources::reference(int rank) const {
  if (reference_) return &*reference_;
  for (const reader::CapturedState& one : captured_) {
    if (one.rank == rank) return &one.state;
  }
  return nullptr;
}

void StateSources::open(const std::string& path, std::optional<reader::Checkpoint>& to) {
  if (path.empty() || !complaint_.empty()) return;
  reader::Result<reader::Checkpoint> opened = reader::open_checkpoint(path);
  if (opened.ok()) {
    to = std::move(*opened);
  } else {
    complaint_ = opened.status().message();
  }
}

}  // namespace plumbline::tools
