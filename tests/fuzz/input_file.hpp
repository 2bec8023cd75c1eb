// A fuzzer's input as a file, for code that opens files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace plumbline::fuzz {

// A directory of this process's own; the current one where none can be made.
std::string fresh_directory();

void write_input(const std::string& path, const std::uint8_t* data, std::size_t size);

}  // namespace plumbline::fuzz
