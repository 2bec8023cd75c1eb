// Whose fault an unfinished collective is, as far as the traces tell.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "checks/open_call.hpp"
#include "checks/subject.hpp"

namespace plumbline::checks {

enum class Cause : std::uint8_t {
  kNeverJoined,  // the guilty ranks did not make the call
  kEndedInside,  // the guilty ranks' processes ended in the call while others were still in it, or failed because of it
  kMismatch,     // the guilty ranks called something else than the others
  kRaised,       // the guilty ranks' calls raised an error of their own, so the others wait for them
  kNotKnown,     // all ranks with a trace made the same call
};

struct Blame {
  Cause cause = Cause::kNotKnown;
  std::vector<const OpenCallMember*> guilty;
};

Blame blame_for(const Subject& subject, const OpenCall& open);

// Do two ranks' calls describe the same collective? Counts are compared only where the operation asks for equal ones.
bool same_call(const reader::Collective& a, const reader::Collective& b);

}  // namespace plumbline::checks
