// Do the blocks that a collective moves arrive as they were given, each where it belongs?
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "checks/collective_blocks.hpp"

namespace plumbline::checks {

struct WrongBlock {
  std::size_t member = 0;  // that got it
  std::size_t block = 0;   // of its output
  std::size_t source = 0;  // member that should have given it
  std::string words;       // what it is instead: a clause without a subject
};

struct MovementJudgement {
  std::size_t judged = 0;    // blocks
  std::size_t unjudged = 0;  // one side is not captured
  std::vector<WrongBlock> wrong;
};

struct BlockSource {
  std::size_t member;
  std::size_t block;  // of its input
};
// Where block `block` of a member's output comes from. `root` of what has one.
BlockSource source_of(recorder::Op op, std::size_t root, std::size_t member, std::size_t block);

// `members`: global ranks, for the words.
MovementJudgement judge_movement(recorder::Op op, int root, const CallBlocks& blocks, const std::vector<int>& members);

}  // namespace plumbline::checks
