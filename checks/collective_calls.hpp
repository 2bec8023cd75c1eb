// Captures of collectives, put together call by call: what each rank of the group put in and what it got out.
//
//   for (const CapturedCall& call : captured_calls(subject)) judge(call);
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "checks/subject.hpp"

namespace plumbline::checks {

struct CallTensor {
  const reader::Capture* capture = nullptr;  // null: not captured
  std::vector<std::uint64_t> blocks;         // elements of each block, in the order of the peers
  bool strided = false;                      // its elements do not lie one after the other in memory
  std::vector<std::size_t> untouched;        // blocks of an output that look as before the call
};

struct CallMember {
  int rank = -1;  // global
  std::vector<CallTensor> in;
  std::vector<CallTensor> out;
  std::uint64_t id = 0;          // of the call in the member's trace; 0: nothing of it was captured
  std::size_t trace = 0;         // index in Run::traces(), where id is not 0
  bool changed = false;          // the job wrote to what it had given before the call was done
  std::optional<double> factor;  // of a sum of scaled parts: what this one is multiplied by

  // Null where it was not captured.
  const CallTensor* input(std::size_t tensor) const { return at(in, tensor); }
  const CallTensor* output(std::size_t tensor) const { return at(out, tensor); }

 private:
  static const CallTensor* at(const std::vector<CallTensor>& side, std::size_t tensor) {
    return tensor < side.size() && side[tensor].capture != nullptr ? &side[tensor] : nullptr;
  }
};

struct CapturedCall {
  recorder::Op op = recorder::Op::kUnknown;
  recorder::ReduceOp reduce = recorder::ReduceOp::kNone;
  std::uint64_t group = 0;
  std::string group_name;
  std::string backend;
  std::uint64_t seq = 0;
  int root = -1;  // place in the group; of what has none -1
  std::int64_t step = -1;
  std::size_t tensors = 0;
  std::vector<CallMember> members;  // in group order; of a message: sender, receiver

  std::vector<std::int32_t> ranks() const;
};

struct CapturedCalls {
  std::vector<CapturedCall> calls;  // by step, then by group and number
  std::size_t unknown_groups = 0;   // captures of groups that no trace tells of
};

CapturedCalls captured_calls(const Subject& subject);

}  // namespace plumbline::checks
