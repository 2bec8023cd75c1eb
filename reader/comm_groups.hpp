// Whose communicator is it? NCCL does not know the global ranks that a communicator joins, so the group of one that is
// smaller than the job is defined with the one rank -1. Where the process group that made it is known, and is as large,
// its ranks are those of the communicator.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>

#include "reader/batch.hpp"
#include "reader/definitions.hpp"

namespace plumbline::trace {
struct Comms;
}

namespace plumbline::reader {

class CommGroups {
 public:
  // What communicators' records say. A message that is malformed says nothing.
  void add(const trace::Comms& comms, std::size_t message_bytes);
  void add(const CommBatch& batch) { add(batch.unique_id_hash, batch.group, batch.rank); }

  // Gives the communicators' groups their ranks.
  void complete(Definitions& definitions) const;

 private:
  void add(std::span<const std::uint64_t> unique_id_hash, std::span<const std::uint64_t> group,
           std::span<const std::uint64_t> rank);

  struct Maker {
    std::uint64_t process_group = 0;
    int rank = -1;  // of this process in the communicator
  };
  std::unordered_map<std::string, Maker> makers_;  // by the name of the communicator's group
};

}  // namespace plumbline::reader
