// Check: are the rows that the model is given such as it can learn from?
//
// Looks at captured token ids and labels: docs/checks.md says what it finds. Whether ranks read different rows is told
// by the replicas check, whether labels are shifted by the loss check.
#pragma once

#include "checks/subject.hpp"
#include "checks/verdict.hpp"

namespace plumbline::checks {

Verdict check_data(const Subject& subject);

}  // namespace plumbline::checks
