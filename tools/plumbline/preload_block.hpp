// Programs that a preload object cannot enter.
#pragma once

#include <string>

namespace plumbline::tools {

// Why the loader would not preload into this program: it is static, set-user-ID or set-group-ID, or has file
// capabilities. Empty when it would. Scripts count as their interpreter.
std::string preload_block(const std::string& program);

}  // namespace plumbline::tools
