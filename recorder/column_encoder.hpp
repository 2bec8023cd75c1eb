// Chooses and writes the encoding of a column; see column.hpp for the way back.
//
// The choice is by length before compression, which agrees with that after it well enough: Back wins where values recur
// (addresses that a heap uses again, names, settings), DeltaSplit where differences are wide (times: the low byte is
// noise, and apart from it the rest compresses), Constant and DeltaVarint elsewhere.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "recorder/column.hpp"

namespace plumbline::recorder {

// Not thread-safe; keeps its buffers for the next column.
class ColumnEncoder {
 public:
  // Replaces `data`.
  ColumnHeader encode(std::span<const std::uint64_t> values, std::vector<std::uint8_t>& data);

 private:
  bool encode_back(std::span<const std::uint64_t> values, std::size_t limit, std::vector<std::uint8_t>& data);
  std::uint32_t* last_place(std::uint64_t value, std::span<const std::uint64_t> values);

  std::vector<std::uint32_t> places_;  // hash table: where a value was last, plus 1
};

}  // namespace plumbline::recorder
