// What a c10d backend call is about, from its C++ arguments.
#pragma once

#include "recorder/event.hpp"

namespace plumbline::shim::adapter {

// See PlumblineAdapter::describe_collective. Counts are what this rank puts in and gets out: a broadcast's root puts in
// and everybody gets out, a reduce's root alone gets out, a sender gets nothing out.
void describe_collective(recorder::Op op, void* backend, void* const* arguments,
                         recorder::CollectiveRecord* record) noexcept;

}  // namespace plumbline::shim::adapter
