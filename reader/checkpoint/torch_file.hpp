// A file of torch.save: a zip file with one pickle and the storages of its tensors. The pickle is read as data
// (reader/import/pickle.hpp); nothing of it is executed.
#pragma once

#include <span>
#include <string>

#include "reader/checkpoint/checkpoint.hpp"
#include "reader/status.hpp"

namespace plumbline::reader {

// Adds what is saved in `bytes`, which lie in to.files[file] or for as long, under `prefix` (empty, or ending in a
// dot).
Status read_torch_file(const std::string& path, std::span<const std::byte> bytes, std::size_t file,
                       const std::string& prefix, Checkpoint& to);

}  // namespace plumbline::reader
