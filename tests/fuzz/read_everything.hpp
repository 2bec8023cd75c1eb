// The one entry that the fuzzer and the corruption driver share: everything that a reader can be asked of a run.
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace plumbline::fuzz {

struct Outcome {
  bool opened = false;
  std::string sentence;                           // why not, when not
  std::map<std::uint64_t, std::size_t> by_frame;  // rows read of each frame of the first trace, by its offset
  std::size_t ring_rows = 0;                      // of the first trace
  std::uint64_t checksum = 0;                     // over all cells: keeps their reading from being optimised away
};

Outcome read_everything(const std::string& path);

}  // namespace plumbline::fuzz
