// A flight recorder dump in a file, pickle or JSON.
#pragma once

#include <string>

#include "reader/import/file_kind.hpp"
#include "reader/import/plain_data.hpp"
#include "reader/status.hpp"

namespace plumbline::reader::imports {

// The largest file that is read as a whole.
inline constexpr std::uint64_t kMostWhole = std::uint64_t{8} << 30;

// Any pickle or small JSON file.
Result<PlainData> read_plain_file(const std::string& path, bool pickle);

// Refuses what is no dump, or one of a version that is not known.
Result<PlainData> read_flight_file(const std::string& path, FileKind kind);

}  // namespace plumbline::reader::imports
