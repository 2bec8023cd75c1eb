// What the loads of a run wrote, next to a state that was saved, so that the two can be compared.
//
//   const LoadedState state = as_saved(loaded, saved);
//   verdict = check_resume({&state.subject, &state.reference});
//   say(state.unseen);   // what is in the file, and in no load that was looked at
//
// A module loads "up.weight" from what the file calls "model.up.weight", and of two optimizers each has a parameter 0:
// a tensor of the load gets the name of that one in the file which fits it, and which it equals if there are several.
#pragma once

#include <string>
#include <vector>

#include "reader/captures.hpp"
#include "reader/checkpoint/checkpoint.hpp"

namespace plumbline::checks {

struct LoadedState {
  reader::Checkpoint subject;    // by the names of the file
  reader::Checkpoint reference;  // without what no load could show: random states, positions, other models
  std::vector<std::string> unseen;
};

LoadedState as_saved(const reader::Checkpoint& loaded, const reader::Checkpoint& saved);

// The betas of each group of the optimizers that a rank loaded, as values "optimizer.param_groups.0.betas.1".
std::vector<reader::NamedValue> loaded_betas(const reader::RunCaptures& captures, int rank);

}  // namespace plumbline::checks
