// A directory of torch.distributed.checkpoint: `.metadata`, a pickle that says which part of which tensor lies where,
// and .distcp files, in which each part is a file of torch.save. Megatron's and torchtitan's checkpoints are such too.
#pragma once

#include <string_view>

#include "reader/checkpoint/checkpoint.hpp"
#include "reader/status.hpp"

namespace plumbline::reader {

inline constexpr std::string_view kDistributedMetadata = ".metadata";

// Adds what the directory to.path holds. Parts that cannot be read become problems.
Status read_distributed(Checkpoint& to);

}  // namespace plumbline::reader
