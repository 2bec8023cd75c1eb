// Check `mismatch`: ranks of a group that called different things under one number.
//
// Some of these end a job with an error that names a victim, some hang it, and some are silent: a sum on one rank and a
// maximum on the other, two all-reduces of one size in different orders, a message that is received into another type.
// All are failures, whether or not the job went on. What is legal differs by operation and stays quiet: uneven parts of
// an all-to-all, the buffers of a root, branches of the script for a rank's role.
#pragma once

#include "checks/subject.hpp"
#include "checks/verdict.hpp"

namespace plumbline::checks {

Verdict check_mismatch(const Subject& subject);

}  // namespace plumbline::checks
