// States that a run captured, as checkpoints: what was loaded, and what was saved, rank by rank.
//
//   Result<RunCaptures> captures = RunCaptures::open(run.path());
//   for (const CapturedState& one : loaded_parameters(*captures)) compare(one.rank, one.state);
//
// A tensor may be there whole, as a sample, or as a digest (checkpoint.hpp). Blocks of sharded tensors are put together
// from all ranks where their elements were captured; such states have no rank.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "reader/captures.hpp"
#include "reader/checkpoint/checkpoint.hpp"

namespace plumbline::reader {

struct CapturedState {
  int rank = -1;       // -1: put together from several
  std::string source;  // in words: "the parameters before the first step"
  Checkpoint state;
  std::vector<std::string> unknown;  // what was captured in a way that cannot be compared
};

// The parameters as the first optimizer step found them: after every load and initialisation. Where those were not
// captured, what the loads wrote. Empty when neither was.
std::vector<CapturedState> loaded_parameters(RunCaptures& captures);

// What was loaded ("load") or saved ("save") last: tensors by the names that the job gave them, optimizer state by the
// number of its parameter, as in a state_dict: "optimizer.state.3.exp_avg". Of the files at `paths` only, where any of
// those was captured: a run may save often, and into several files at once.
std::vector<CapturedState> captured_states(RunCaptures& captures, std::string_view verb,
                                           const std::set<std::string>& paths = {});

// The files that the run loaded from, as JSON has their paths.
std::set<std::string> loaded_paths(const RunCaptures& captures);

}  // namespace plumbline::reader
