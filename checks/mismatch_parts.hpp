// The parts of check `mismatch` that are not about collectives which differ: messages between two ranks, exchanges
// whose parts do not add up, calls that nobody waited for, and groups whose members disagree on who is in them.
#pragma once

#include <vector>

#include "checks/group_fronts.hpp"
#include "checks/subject.hpp"
#include "checks/verdict.hpp"

namespace plumbline::checks {

// Sends and receives of one pair that differ in size or type.
void add_message_mismatches(const Subject& subject, Attempt attempt, const GroupFront& front,
                            std::vector<Finding>& findings);
// All-to-all calls in which more is given than taken, or less.
void add_unbalanced_exchanges(const Subject& subject, Attempt attempt, const GroupFront& front,
                              std::vector<Finding>& findings);
// Calls that some ranks made and finished, and others never made although they have ended.
void add_missing_calls(const Subject& subject, Attempt attempt, const GroupFront& front,
                       std::vector<Finding>& findings);
// One name, two sets of ranks, and members of both that know only one of them.
void add_disputed_groups(const Subject& subject, Attempt attempt, const std::vector<GroupFront>& fronts,
                         std::vector<Finding>& findings);

}  // namespace plumbline::checks
