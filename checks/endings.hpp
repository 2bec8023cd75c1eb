// Check `endings`: did every process of the run end in order. The first one that did not comes first: when a launcher
// ends the others with SIGTERM, that one is the cause.
#pragma once

#include "checks/subject.hpp"
#include "checks/verdict.hpp"

namespace plumbline::checks {

Verdict check_endings(const Subject& subject);

}  // namespace plumbline::checks
