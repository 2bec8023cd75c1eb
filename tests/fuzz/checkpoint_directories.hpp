// Checkpoints of several files: whole ones, such with hostile names in what says where tensors lie, and all of them as
// one input of a fuzzer.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace plumbline::fuzz {

using Files = std::map<std::string, std::string>;  // contents by name

struct CheckpointDirectory {
  std::string name;
  Files files;
};

// Shards with an index and settings, a trainer's states, a directory of torch.distributed.checkpoint.
std::vector<CheckpointDirectory> checkpoint_directories();

// Each with something to complain about. `outside` is a file that no directory's names may lead to: a shard and a part
// would both be found in it.
std::vector<CheckpointDirectory> hostile_directories(const std::string& outside);
std::string outside_contents();

// Files under a few names that matter, as one text, and back; nothing where it is none. Others are left out.
std::string packed(const Files& files);
std::optional<Files> unpacked(std::string_view text);

// In place of what the directory held.
void write_directory(const std::string& directory, const Files& files);

}  // namespace plumbline::fuzz
