// One event in words, for `events`.
#pragma once

#include <string>

#include "reader/merge.hpp"
#include "reader/trace.hpp"

namespace plumbline::tools {

// What follows the kind: "all_reduce #37 of default_pg, sum of float32[82624]".
std::string event_text(const reader::Trace& trace, const reader::FrameView& frame, const reader::Row& row);

}  // namespace plumbline::tools
