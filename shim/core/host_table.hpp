// The recorder as the adapter sees it; see adapter_api.hpp.
#pragma once

#include "shim/adapter_api.hpp"

namespace plumbline::shim {

// `torch_version` must live as long as the process.
const PlumblineHost& host_table(const char* torch_version) noexcept;

}  // namespace plumbline::shim
