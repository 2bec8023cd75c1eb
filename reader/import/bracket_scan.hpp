// Finds the end of a JSON object or array without looking at what is in it: most of a profiler's trace is skipped so.
//
// It works on any pieces of the text, one after the other, 64 bytes at a time: which bytes are quotes and brackets is
// computed for all 64 at once, and only brackets outside of strings are looked at.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace plumbline::reader::imports {

class BracketScan {
 public:
  // `depth`: brackets that are open where the text begins.
  explicit BracketScan(std::uint64_t depth) : depth_(depth) {}

  // Bytes up to and including the bracket that closes the outermost one; npos: it is not in this piece, and the next
  // piece follows.
  std::size_t find_end(std::string_view piece);

 private:
  bool step(char byte);

  std::uint64_t depth_;
  bool in_string_ = false;
  bool escaped_ = false;
};

// Bytes before the first quote or backslash; the size of `text` when there is none.
std::size_t plain_prefix(std::string_view text);

}  // namespace plumbline::reader::imports
