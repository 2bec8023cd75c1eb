// Opens a file for reading, and nothing that is not a file: a pipe in its place must not block.
#pragma once

#include <cstdint>
#include <string>

#include "reader/status.hpp"

namespace plumbline::reader {

struct RegularFile {
  int descriptor = -1;  // the caller's to close
  std::uint64_t size = 0;
};

Result<RegularFile> open_regular(const std::string& path);

}  // namespace plumbline::reader
