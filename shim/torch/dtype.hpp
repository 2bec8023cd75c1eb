// torch's element types in the trace's words.
#pragma once

#include <c10/core/ScalarType.h>

#include "recorder/event.hpp"

namespace plumbline::shim::adapter {

// kUnknown for types that the trace has no word for.
recorder::Dtype dtype_of(c10::ScalarType type) noexcept;

}  // namespace plumbline::shim::adapter
