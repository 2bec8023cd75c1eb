// The part of the adapter that is written in Python: the sources of glue/, run once in a namespace of their own, which
// no module of the job can see. What they call of ours is in glue_functions.cpp.
//
// Everything here needs the interpreter lock.
#pragma once

#include "shim/torch/python_api.hpp"

namespace plumbline::shim::adapter {

// Runs the sources, at the first call. False when they cannot run here; a fact then says why.
bool load_glue() noexcept;

// Calls a function of the glue; `arguments` is a tuple. An Exception in it is told as a fact, and lost; after some of
// them the glue is no longer called. Empty without a result. Another error stays set: it is the job's.
Ref call_glue(const char* function, const Ref& arguments) noexcept;

}  // namespace plumbline::shim::adapter
