// model.safetensors.index.json: which file holds which tensor.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "reader/status.hpp"

namespace plumbline::reader {

struct ShardIndex {
  std::map<std::string, std::string> file_of;  // by the tensor's name
  std::optional<std::uint64_t> total_size;     // bytes of all tensors, as the index says
};

Result<ShardIndex> read_shard_index(const std::string& path);

}  // namespace plumbline::reader
