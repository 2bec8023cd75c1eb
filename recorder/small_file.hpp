// Reading the small text files of /proc, /sys and the run directory, without iostreams.
#pragma once

#include <optional>
#include <string>

namespace plumbline::recorder {

// The first `limit` bytes of a file; nothing when it cannot be read.
std::optional<std::string> read_small_file(const char* path, std::size_t limit = 4096);

// From the start of an open file, without moving its position.
std::optional<std::string> read_small_file(int fd, std::size_t limit = 4096);

}  // namespace plumbline::recorder
