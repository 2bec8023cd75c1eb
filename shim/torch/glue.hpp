// The part of the adapter that is written in Python: the sources of glue/, run once in a namespace of their own, which
// no module of the job can see. What they call of ours is in glue_functions.cpp.
//
// Everything here needs the interpreter lock.
#pragma once

#include "shim/torch/python_api.hpp"

namespace plumbline::shim::adapter {

// Calls a function of the glue; `arguments` is a tuple. An Exception in it is told as a fact, and lost; after some of
// them the glue is no longer called. Empty without a result. Another error stays set: it is the job's.
Ref call_glue(const char* function, const Ref& arguments) noexcept;

// Lets the glue replace the functions of the job's modules that it watches: once torch is imported, and again when more
// may be. A Ctrl-C that comes meanwhile is raised again where the job can take it.
void install_watches() noexcept;

}  // namespace plumbline::shim::adapter
