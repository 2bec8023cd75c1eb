#include "tools/run_reader/state_sources.hpp"

#include <filesystem>

namespace plumbline::tools {

StateSources::StateSources(const Options& options, const std::set<std::string>& loaded) {
  const std::string path = options.references.empty() ? "" : options.references.front();
  // Another run: what it saved, and its steps.
  std::error_code error;
  if (std::filesystem::is_directory(path + "/captures", error) && !reader::looks_like_checkpoint(path)) {
    open_run(path, loaded);
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

void StateSources::open_run(const std::string& path, const std::set<std::string>& loaded) {
  reader::Result<reader::Run> opened = reader::Run::open(path);
  if (!opened.ok()) {
    complaint_ = opened.status().message();
    return;
  }
  run_ = std::move(*opened);
  checks::Subject& subject = subject_.emplace(*run_);
  const std::size_t sets = subject.capture_sets().all.size();
  if (sets == 0) {
    subject_.reset();
    complaint_ = path + " is a run that captured nothing.";
    return;
  }
  // What the last start saved that saved anything.
  for (std::size_t set = sets; set-- > 0 && captured_.empty();) {
    subject.look_at(set);
    captured_ = captured_states(subject.captures(), "save", loaded);
  }
  subject.look_at(subject.capture_sets().main());
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
