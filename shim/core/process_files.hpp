// What /proc says about a process: this one ("self") or another by its number.
#pragma once

#include <string>

namespace plumbline::shim {

// Empty where it cannot be read: the process is another user's, or is gone.
std::string link_of(const char* process, const char* name) noexcept;  // "exe", "cwd"
std::string command_of(const char* process) noexcept;                 // as recorder/shell_words.hpp writes it
// The environment that it was started with, each variable ended by a zero byte.
std::string environment_of(const char* process) noexcept;

}  // namespace plumbline::shim
