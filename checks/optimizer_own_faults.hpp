// The optimizer check tried on faults of its own making.
#pragma once

#include <cstddef>

#include "checks/optimizer_parameter.hpp"

namespace plumbline::checks {

// Would the check see its own faults, put into a copy of what was captured: a learning rate that is off by a hundredth
// (of narrow parameters: by a factor of two), and one element, that at `place`, off by four bounds?
struct SelfTest {
  bool rate = false;
  bool element = false;
  bool passed() const { return rate && element; }
};

SelfTest self_test(const ParameterContext& context, const CapturedParameter& parameter, std::size_t place);

}  // namespace plumbline::checks
