// Faults put into copies of a call's captures: a check that does not see them says nothing by its silence.
#pragma once

#include "checks/collective_blocks.hpp"

namespace plumbline::checks {

// One element of a right output, off by the least that its bits allow beyond the bound: seen, and no farther off than a
// few bounds. `call` was judged, and found right.
bool sees_wrong_element(const CapturedCall& call, const CallBlocks& blocks);

// One bit of a block, or of its hash.
bool sees_wrong_block(const CapturedCall& call, const CallBlocks& blocks);

}  // namespace plumbline::checks
