// What the states of a run or a checkpoint are compared with: the files, or the run, that --reference and --before
// name.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "checks/subject.hpp"
#include "reader/checkpoint/captured_state.hpp"
#include "reader/checkpoint/checkpoint.hpp"
#include "tools/run_reader/options.hpp"

namespace plumbline::tools {

class StateSources {
 public:
  // `loaded`: where the run in question loaded from; of a run as reference, what it saved there counts.
  explicit StateSources(const Options& options, const std::set<std::string>& loaded = {});
  StateSources(const StateSources&) = delete;
  StateSources& operator=(const StateSources&) = delete;

  // Empty when all that was named could be opened.
  const std::string& complaint() const { return complaint_; }
  // Of one rank, -1 for a state of all ranks; null when none was named, or that run captured none for it.
  const reader::Checkpoint* reference(int rank) const;
  // The run that --reference names, which captured something; null when it names none.
  const checks::Subject* reference_run() const { return subject_ ? &*subject_ : nullptr; }
  const reader::Checkpoint* before() const { return before_ ? &*before_ : nullptr; }

 private:
  void open(const std::string& path, std::optional<reader::Checkpoint>& to);
  void open_run(const std::string& path, const std::set<std::string>& loaded);

  std::string complaint_;
  std::optional<reader::Checkpoint> reference_;
  std::optional<reader::Run> run_;
  std::optional<checks::Subject> subject_;       // of that run
  std::vector<reader::CapturedState> captured_;  // of that run
  std::optional<reader::Checkpoint> before_;
};

}  // namespace plumbline::tools
