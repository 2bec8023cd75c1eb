// Finds the traces of a run directory and the ring that belongs to each. What a file is, and whose, it says itself.
#pragma once

#include <string>
#include <vector>

#include "reader/status.hpp"

namespace plumbline::reader {

struct TraceFiles {
  std::string trace;  // empty: only a ring is left
  std::string ring;   // empty: none
};

// A regular file that begins as a trace does. One whose beginning is damaged is still taken when its name ends as the
// recorder lets names end.
bool looks_like_trace(const std::string& path);

// `path` is a directory, or one trace file, whose ring is then looked for beside it. An empty list: a directory without
// traces.
Result<std::vector<TraceFiles>> find_traces(const std::string& path, bool hidden);

// Directories directly below `path` that hold a trace, by name: what a person may have meant.
std::vector<std::string> runs_below(const std::string& path);

}  // namespace plumbline::reader
