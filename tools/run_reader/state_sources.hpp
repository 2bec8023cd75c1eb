// What the states of a run or a checkpoint are compared with: the files, or the run, that --reference and --before
// name.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "reader/checkpoint/captured_state.hpp"
#include "reader/checkpoint/checkpoint.hpp"
#include "tools/run_reader/options.hpp"

namespace plumbline::tools {

class StateSources {
 public:
  // `loaded`: where the run in question loaded from; of a run as reference, what it saved there counts.
  explicit StateSources(const Options& options, const std::set<std::string>& loaded = {});

  // Empty when all that was named could be opened.
  const std::string& complaint() const { return complaint_; }
  // Of one rank, -1 for a state of all ranks; null when none was named, or that run captured none for it.
  const reader::Checkpoint* reference(int rank) const;
  // Of the run that --reference names; null when it names none.
  reader::RunCaptures* reference_run() { return run_ ? &*run_ : nullptr; }
  const reader::Checkpoint* before() const { return before_ ? &*before_ : nullptr; }

 private:
  void open(const std::string& path, std::optional<reader::Checkpoint>& to);

  std::string complaint_;
  std::optional<reader::Checkpoint> reference_;
  std::optional<reader::RunCaptures> run_;
  std::vector<reader::CapturedState> captured_;  // of that run
  std::optional<reader::Checkpoint> before_;
};

}  // namespace plumbline::tools
