// What was captured of one tensor of a collective, block by block and rank by rank, in memory: what the comparisons
// work on, and what a self-test spoils a copy of.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "checks/collective_calls.hpp"
#include "reader/captures.hpp"

namespace plumbline::checks {

struct Block {
  std::uint64_t count = 0;            // elements of it
  std::vector<std::uint64_t> places;  // of those in `bytes`, rising
  std::vector<std::uint8_t> bytes;    // whole elements
  std::optional<std::uint64_t> hash;  // of the whole block
  bool untouched = false;             // of an output: looks as before the call

  bool whole() const { return places.size() == count; }
};

struct CallBlocks {
  recorder::Dtype dtype = recorder::Dtype::kUnknown;
  std::vector<std::vector<Block>> in;   // by place in the group; empty: not captured, or nothing to give
  std::vector<std::vector<Block>> out;  // likewise
  std::vector<double> factors{};        // of a sum of scaled parts, by place in the group; empty: nothing is scaled
};

// Of the nth tensor of a call.
CallBlocks load_blocks(reader::RunCaptures& captures, const CapturedCall& call, std::size_t tensor);

// Nothing is known where neither hashes nor places are common.
enum class Same : std::uint8_t { kUnknown, kYes, kNo };
Same compare(const Block& a, const Block& b);

}  // namespace plumbline::checks
