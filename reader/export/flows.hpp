// Which calls of a run are one collective: a flow number for each call that has a counterpart on another rank.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "reader/run.hpp"

namespace plumbline::reader {

class Flows {
 public:
  explicit Flows(const Run& run);

  // 0: the call stands alone.
  std::uint64_t of(std::size_t trace, std::uint64_t call_id) const;

 private:
  std::vector<std::unordered_map<std::uint64_t, std::uint64_t>> flow_of_call_;  // by trace
};

}  // namespace plumbline::reader
