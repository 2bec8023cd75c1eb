// Ranges of the job: an at::RecordFunction observer of USER_SCOPE, in every thread.
#pragma once

namespace plumbline::shim::adapter {

// Adds the observer. False, with `why` set to a static text, when torch refused it.
bool install_record_function(const char** why) noexcept;

}  // namespace plumbline::shim::adapter
