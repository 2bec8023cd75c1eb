// Which tensors a c10d call moves, in blocks: what one peer sends to one other lies in one block. Of a call over
// several tensors (coalesced ones) each is a part of its own.
#pragma once

#include <cstdint>
#include <vector>

#include "recorder/event.hpp"
#include "shim/torch/c10d_arguments.hpp"

namespace plumbline::shim::adapter {

struct CollectivePart {
  Tensors tensors;                    // one that holds all blocks, or one a block
  std::vector<std::uint64_t> blocks;  // elements of each, in the order of the peers
  bool even = true;                   // all of one size
};

struct CollectiveTensors {
  std::vector<CollectivePart> in;  // what this rank puts in; none: it has nothing to give
  std::vector<CollectivePart> out;
  bool in_place = false;
};

// `rank` and `size` of the group. Empty for what moves no dense tensors, or in a form that is not known.
CollectiveTensors collective_tensors(recorder::Op op, const Arguments& arguments, int rank, int size);

}  // namespace plumbline::shim::adapter
