// GNU build ids of ELF files, as lower-case hexadecimal digits: what tells one build of a library from another.
#pragma once

#include <cstddef>
#include <string>

namespace plumbline::shim {

// From the contents of a note segment; empty when it holds none.
std::string build_id_in_notes(const void* notes, std::size_t size) noexcept;

// From a file on disk; empty when it cannot be read or has none.
std::string build_id_of_file(const char* path) noexcept;

}  // namespace plumbline::shim
