// Which traces of a directory belong together: the launches that recorded into it, and the processes that went on as
// another program.
#pragma once

#include <cstddef>
#include <vector>

#include "reader/trace.hpp"

namespace plumbline::reader {

struct Launches {
  int count = 1;
  std::vector<int> launch_of;  // by trace
  // By trace: the trace in which the same process goes on, because it replaced its program (exec); itself: none.
  std::vector<std::size_t> continued_in;
};

// `traces` in the order of their starts. Two traces are of different launches when they are of the same rank and
// attempt, one after the other; when their worlds or their jobs differ; and when the one had ended before the other
// began although both had met their whole world.
Launches tell_launches(const std::vector<Trace>& traces);

}  // namespace plumbline::reader
