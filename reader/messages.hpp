// The middle layer of a trace file: the messages in one decompressed frame, each verified before anybody looks at it.
#pragma once

#include <cstdint>
#include <span>

namespace plumbline::trace {
struct Message;
}

namespace plumbline::reader {

struct MessageCounts {
  std::uint64_t good = 0;
  std::uint64_t malformed = 0;    // do not verify; stepped over
  std::uint64_t unknown = 0;      // of a kind that is newer than this reader; stepped over
  std::uint64_t stray_bytes = 0;  // at the end of a frame, no whole message
};

// Walks the messages of a frame.
class MessageWalk {
 public:
  MessageWalk(std::span<const std::uint8_t> data, MessageCounts& counts) : data_(data), counts_(counts) {}

  // The next good message; null at the end.
  const trace::Message* next();
  std::uint32_t index() const { return index_ - 1; }  // of the message that next() gave
  std::size_t bytes() const { return bytes_; }

 private:
  std::span<const std::uint8_t> data_;
  MessageCounts& counts_;
  std::uint32_t index_ = 0;
  std::size_t bytes_ = 0;
};

}  // namespace plumbline::reader
