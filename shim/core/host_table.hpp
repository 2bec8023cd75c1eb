// The recorder as the adapter sees it; see adapter_api.hpp.
#pragma once

#include "shim/adapter_api.hpp"

namespace plumbline::shim {

const PlumblineHost& host_table() noexcept;

}  // namespace plumbline::shim
