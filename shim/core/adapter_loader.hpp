// Finding, loading and starting the torch adapter, once a process.
//
// It must be started in the main thread and outside of dlopen, so the first hooked allocation, which may happen while
// torch is being imported, only schedules it: Python runs it between two bytecodes. A c10d call that comes earlier
// loads it on the spot. Without an adapter the job runs on, and the trace says what is missing and how to mend it.
#pragma once

#include "shim/adapter_api.hpp"

namespace plumbline::shim {

// At the start of recording. Does nothing in a process without Python.
void schedule_adapter() noexcept;

// For a c10d call: loads the adapter unless that was tried. Null: there is none.
const PlumblineAdapter* adapter_for_call() noexcept;

// For any other call: never loads it. Null: there is none, or not yet.
const PlumblineAdapter* loaded_adapter() noexcept;

}  // namespace plumbline::shim
