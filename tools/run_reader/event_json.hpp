// Events as JSON objects: the fields of one row, with names and texts resolved. `dump` and `events --json` share it.
#pragma once

#include <cstddef>

#include "reader/batch.hpp"
#include "reader/merge.hpp"
#include "reader/trace.hpp"
#include "tools/run_reader/json_line.hpp"

namespace plumbline::tools {

// The kind of a row of a frame.
recorder::Kind kind_of(const reader::FrameView& frame, const reader::Row& row);

// Adds "kind" and the kind's own fields. Time and rank are the caller's.
void add_event(JsonLine& line, const reader::Trace& trace, const reader::FrameView& frame, const reader::Row& row);

}  // namespace plumbline::tools
