// What a wrong result of a reduction is instead: suppositions, of which one is named only when it explains every
// element that was captured.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "checks/collective_reduction.hpp"

namespace plumbline::checks {

std::vector<Form> closed_forms(recorder::ReduceOp reduce, recorder::Dtype dtype, const Contributions& from);

// A clause without a subject: "is the maximum of what the ranks gave"; empty when nothing explains it.
std::string reduction_cause(const CapturedCall& call, const CallBlocks& blocks, const Contributions& from,
                            const Elements& got, std::size_t member);

}  // namespace plumbline::checks
