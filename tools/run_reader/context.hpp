// What every command of run-reader works with.
#pragma once

#include <ostream>

#include "checks/subject.hpp"
#include "reader/run.hpp"
#include "tools/run_reader/options.hpp"

namespace plumbline::tools {

struct Context {
  const Options& options;
  const reader::Run& run;
  const checks::Subject& subject;
  std::ostream& out;
  std::ostream& err;
};

}  // namespace plumbline::tools
