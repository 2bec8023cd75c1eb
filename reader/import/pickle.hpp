// Reads the plain data of a Python pickle, protocols 2 to 5, without ever making a Python object.
//
// A pickle is a program. This reader knows the instructions that make plain containers, numbers and texts, and refuses
// every other: what would import a name, call something or restore an object is named in the sentence that refuses it,
// and nothing of it is carried out. Memory is bounded by a small multiple of the file's size, whatever the file says.
//
// Checkpoints are full of objects. For them the names and the arguments of calls are kept as data (plain_data.hpp):
// still nothing is imported, and nothing called.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "reader/import/plain_data.hpp"
#include "reader/status.hpp"

namespace plumbline::reader::imports {

enum class Objects : std::uint8_t { kRefused, kAsData };

// `path` is for the sentences.
Result<PlainData> read_pickle(std::string_view path, std::vector<std::uint8_t> bytes,
                              Objects objects = Objects::kRefused);

// A pickle of protocol 2 or later starts so.
bool starts_as_pickle(std::span<const std::uint8_t> bytes);

}  // namespace plumbline::reader::imports
