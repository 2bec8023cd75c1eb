// Ranges of the job: an at::RecordFunction observer of USER_SCOPE, in every thread.
#pragma once

#include <cstdint>

namespace plumbline::shim::adapter {

// Adds the observer. False, with `why` set to a static text, when torch refused it.
bool install_record_function(const char** why) noexcept;

// Builds an at::RecordFunction in `range`, as its constructor does, but not for our observer if that is the only one.
void construct_range(void* range, std::uint8_t scope);

}  // namespace plumbline::shim::adapter
