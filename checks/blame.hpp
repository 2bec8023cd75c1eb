// Whose fault it is that an operation stays open which all its ranks have joined, as far as the traces tell.
#pragma once

#include <cstdint>
#include <vector>

#include "checks/subject.hpp"
#include "checks/wait_graph.hpp"

namespace plumbline::checks {

enum class Cause : std::uint8_t {
  kMismatch,     // the guilty ranks called something else than the others
  kRaised,       // the guilty ranks' calls raised an error of their own, so the others wait for them
  kEndedInside,  // the guilty ranks' processes ended in the call while others were still in it, or failed because of it
  kUnfinished,   // the guilty ranks did not finish what their peers did
  kNotKnown,     // all made the same call, and none of them finished it
};

struct Blame {
  Cause cause = Cause::kNotKnown;
  std::vector<const Party*> guilty;
};

Blame blame_for(const Subject& subject, const OpenOp& op);

// The ranks of these, in their order.
std::vector<std::int32_t> ranks_of(const std::vector<const Party*>& parties);

}  // namespace plumbline::checks
