// Can a recording process write its files into a directory?
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace plumbline::tools {

// Seen from the current directory; the path itself where that is gone.
std::filesystem::path absolute_path(const std::filesystem::path& path);

// The nearest directory above a path that is there.
std::filesystem::path existing_parent(std::filesystem::path path);

// Why no trace with a ring file of that size can be recorded into a directory, which need not be there yet: "cannot be
// written to: …". Empty when it can. Leaves nothing behind.
std::string recording_block(const std::filesystem::path& directory, std::uint64_t ring_bytes);

}  // namespace plumbline::tools
