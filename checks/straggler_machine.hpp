// Whether the machine explains a delay: a thread that waits for a processor comes late without its code being slow.
#pragma once

#include <string>
#include <vector>

#include "checks/straggler_words.hpp"

namespace plumbline::checks {

struct MachineShare {
  bool known = false;  // it was recorded how long these ranks' threads waited
  bool busy = false;   // threads of some rank waited notably
  double waiting = 0;  // what part of the time the one that waited most did
  bool explains = false;
  std::string text;  // a detail for the finding; empty where the machine was idle enough, or nothing is known
};

// Of what the others lost by these ranks. Ranks that wait far longer than those of other hosts are still at fault: then
// it is their host's load that is to be looked at.
MachineShare machine_share(const StragglerScene& scene, const std::vector<std::size_t>& traces, std::int64_t lost);

// Of steps that became slower on all ranks.
MachineShare machine_share(const StragglerScene& scene, const CadenceChange& change);

}  // namespace plumbline::checks
