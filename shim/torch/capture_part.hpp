// One part of a collective as a capture: of what is reduced, elements at places that are the same on every rank; of
// what is only moved, a hash of each block.
#pragma once

#include <cstdint>
#include <string>

#include "recorder/event.hpp"
#include "shim/torch/collective_tensors.hpp"
#include "shim/torch/remembered_part.hpp"

namespace plumbline::shim::adapter {

struct CollectiveCapture {
  recorder::Op op = recorder::Op::kUnknown;
  std::uint64_t id = 0;  // of the call's record
  std::int64_t step = -1;
  std::uint64_t divided = 1;  // into so many blocks on the side that has most
  std::string name;
  std::string detail;  // of the call, a JSON object without its end
};

struct OutputFacts {
  bool changed = false;  // the job wrote to what the call was given
  bool shared = false;   // another call may have written here meanwhile
  bool apart = false;    // the outputs are not the inputs: blocks that look as before the call are told
};

void capture_input(const CollectiveCapture& call, const CollectivePart& part, std::size_t index, std::size_t parts);
void capture_output(const CollectiveCapture& call, const RememberedPart& part, std::size_t index, std::size_t parts,
                    const OutputFacts& facts);
// That the job wrote to what the call was given, of a call that leaves nothing here.
void capture_changed_input(const CollectiveCapture& call);

}  // namespace plumbline::shim::adapter
