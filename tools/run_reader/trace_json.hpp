// What a trace says once, as JSON lines: for `dump`.
#pragma once

#include <iosfwd>

#include "reader/trace.hpp"

namespace plumbline::tools {

// process, facts, groups, threads, hooks
void write_definitions(std::ostream& out, const reader::Trace& trace);
// exit, calls in flight, evicted stretches, damage, statistics
void write_end(std::ostream& out, const reader::Trace& trace);

}  // namespace plumbline::tools
