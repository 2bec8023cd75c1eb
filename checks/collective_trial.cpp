#include "checks/collective_trial.hpp"

#include <algorithm>

#include "checks/collective_movement.hpp"
#include "checks/collective_reduction.hpp"
#include "recorder/dtype_size.hpp"

namespace plumbline::checks {
namespace {

// Bits of a number double in weight; a right result is up to one bound away already.
constexpr double kMostBounds = 6;
constexpr std::size_t kMostElements = 8;

Block* first_output(CallBlocks& blocks) {
  for (auto& member : blocks.out) {
    for (Block& block : member) {
      if (!block.bytes.empty() || block.hash) return &block;
    }
  }
  return nullptr;
}

}  // namespace

bool sees_wrong_element(const CapturedCall& call, const CallBlocks& blocks) {
  CallBlocks spoilt = blocks;
  Block* const block = first_output(spoilt);
  const std::size_t size = recorder::size_of(blocks.dtype);
  if (block == nullptr || size == 0) return false;
  // Some elements have no closed form.
  for (std::size_t element = 0; element < std::min(block->bytes.size() / size, kMostElements); ++element) {
    for (std::size_t bit = 0; bit < size * 8; ++bit) {
      std::uint8_t& byte = block->bytes[element * size + bit / 8];
      const auto flip = static_cast<std::uint8_t>(1U << bit % 8);
      byte ^= flip;
      const ReductionJudgement judgement = judge_reduction(call, spoilt);
      byte ^= flip;
      if (!judgement.wrong.empty()) return bit == 0 || judgement.wrong.front().excess <= kMostBounds;
    }
  }
  return false;
}

bool sees_wrong_block(const CapturedCall& call, const CallBlocks& blocks) {
  CallBlocks spoilt = blocks;
  Block* const block = first_output(spoilt);
  if (block == nullptr) return false;
  if (block->hash) *block->hash ^= 1;
  if (!block->bytes.empty()) block->bytes.back() ^= 1;
  return !judge_movement(call.op, call.root, spoilt, call.ranks()).wrong.empty();
}

}  // namespace plumbline::checks
