// `check`: one check by name, or all; and the list of them.
//
//   run-reader check                                      which there are, and what each needs
//   run-reader check hang RUN
//   run-reader check export EXPORTED --reference ORIGINAL      no run is needed
//   run-reader check --all RUN
#pragma once

#include <iosfwd>
#include <optional>

#include "tools/run_reader/context.hpp"

namespace plumbline::tools {

// What can be done without a run; nothing when one has to be opened first.
std::optional<int> check_without_run(const Options& options, std::ostream& out, std::ostream& err);

int run_check(const Context& context);

}  // namespace plumbline::tools
