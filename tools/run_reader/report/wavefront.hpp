// How far each rank of each process group came: the last call that it made, began to execute, and finished.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tools/run_reader/context.hpp"

namespace plumbline::tools {

struct Front {
  std::int32_t rank = -1;
  std::int64_t called = -1;  // sequence numbers; -1 none
  std::int64_t started = -1;
  std::int64_t completed = -1;
  std::string last_call;  // "all_reduce #17, sum of float32[82624]"
  std::string site;       // "train.py:31 in evaluate", empty when not known
};

struct GroupFront {
  std::string name;  // as the job describes it
  std::vector<int> ranks;
  std::vector<Front> fronts;

  bool level() const;  // all ranks at the same place, with nothing open
};

// Of the last attempt; point-to-point calls apart, since their numbers differ by design. Uneven groups first.
std::vector<GroupFront> group_fronts(const Context& context);

std::string wavefront_html(const std::vector<GroupFront>& groups);

}  // namespace plumbline::tools
