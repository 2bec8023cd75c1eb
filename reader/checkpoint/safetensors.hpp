// The header of a safetensors file: 8 bytes with its length, a JSON object, then the tensors' bytes end to end.
//
// Strict, as the format asks: each byte of the data belongs to exactly one tensor, each tensor's bytes are what its
// type and shape make, no name occurs twice. What does not hold is one sentence with the file, and what to do.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "reader/checkpoint/dtype.hpp"
#include "reader/status.hpp"

namespace plumbline::reader {

struct SafetensorsEntry {
  std::string name;
  DType dtype = DType::kF32;
  std::vector<std::uint64_t> shape;
  std::uint64_t begin = 0;  // in the data
  std::uint64_t end = 0;
};

struct SafetensorsHeader {
  std::vector<SafetensorsEntry> tensors;  // in the order of their bytes
  std::vector<std::pair<std::string, std::string>> metadata;
  std::size_t data_offset = 0;  // in the file
};

// `file`: all of it; `path` is for the sentences.
Result<SafetensorsHeader> read_safetensors_header(const std::string& path, std::span<const std::byte> file);

// Elements of a shape; nothing when they are more than 2^63 bits can count.
bool element_count(std::span<const std::uint64_t> shape, std::uint64_t& count);
// "[4096, 11008]".
std::string shape_text(std::span<const std::uint64_t> shape);

}  // namespace plumbline::reader
