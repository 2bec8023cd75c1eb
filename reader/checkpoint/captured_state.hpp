// States that a run captured, as checkpoints: what was loaded, and what was saved, rank by rank.
//
//   Result<RunCaptures> captures = RunCaptures::open(run.path());
//   for (const CapturedState& one : loaded_parameters(*captures)) compare(one.rank, one.state);
//
// A tensor may be there whole, as a sample, or as a digest (checkpoint.hpp). Blocks of sharded tensors are put together
// from all ranks where their elements were captured; such states have no rank.
#pragma once

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

// What was loaded ("load") or saved ("save") last: parameters as "model.<name>", optimizer state as
// "optimizer.state.<parameter>.<key>".
std::vector<CapturedState> captured_states(RunCaptures& captures, std::string_view verb);

}  // namespace plumbline::reader
