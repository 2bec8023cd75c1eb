// What a file is, told from its first bytes and never from its name; and whose it is, which names may say.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "reader/status.hpp"

namespace plumbline::reader::imports {

enum class FileKind : std::uint8_t {
  kFlightPickle,
  kFlightJson,
  kMemorySnapshot,
  kKineto,
  kPySpyJson,
  kRasJson,
  kText,     // stacks, ncclras, logs: what of them it holds, its lines tell
  kForeign,  // none that can be imported
};

struct RecognisedFile {
  FileKind kind = FileKind::kForeign;
  std::string looks_like;  // of a foreign file: "a PyTorch checkpoint", "a memory timeline"
};

RecognisedFile recognise(std::string_view beginning);

// How much of a file recognise() wants to see.
inline constexpr std::size_t kBeginning = std::size_t{64} << 10;

// "a PyTorch flight recorder dump".
std::string_view name_of(FileKind kind);

// The number behind the last "rank" in the file's name, -1: none.
int rank_in_name(std::string_view path);
// The digits at the end of the file's name, before what says its format: how PyTorch names its dumps. -1: none.
int digits_at_end_of_name(std::string_view path);

}  // namespace plumbline::reader::imports
