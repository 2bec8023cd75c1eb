// Which variables of the environment belong in a trace, and are set again when a run is repeated.
#pragma once

#include <string_view>

namespace plumbline::recorder {

// By an allow-list of what steers training, and never one that sounds like a secret.
bool is_reported_variable(std::string_view name) noexcept;

}  // namespace plumbline::recorder
