// Decodes the columns of a batch. Every byte is checked: a column gives exactly as many values as its batch says, or
// the batch is refused.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace plumbline::trace {
struct Column;
}

namespace plumbline::reader {

// Room for the decoded values of one frame, taken in order and given back all at once.
class ColumnArena {
 public:
  // Beyond this the frame's remaining batches are refused. The writer's frames need a hundredth of it.
  static constexpr std::size_t kMaxValues = std::size_t{64} << 20;

  std::uint64_t* take(std::size_t values);  // null when the frame has had enough
  void reset();

 private:
  struct Block {
    std::unique_ptr<std::uint64_t[]> values;
    std::size_t size = 0;
    std::size_t used = 0;
  };
  std::vector<Block> blocks_;
  std::size_t taken_ = 0;
};

// The values of `column`, to.size() of them. A column that the writer left out is all zeros. False: malformed. The same
// as recorder::decode_column(), several times as fast.
bool decode_column(const trace::Column* column, std::span<std::uint64_t> to);

}  // namespace plumbline::reader
