// A walk over the Python frames of a thread, innermost first, by its memory alone.
//
//   FrameWalk<DirectMemory> walk(layout, thread_state);
//   while (walk.next()) use(walk.frame());
//
// Direct memory is right for the calling thread: its own frames stand still while it looks at them, and a running frame
// keeps its code object alive. Guarded memory is for other threads and for signal handlers; what it gives may then be
// torn, but never a fault.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "shim/python/layout.hpp"
#include "shim/python/memory.hpp"

namespace plumbline::shim::python {

struct Frame {
  Address code = 0;
  std::int64_t offset = 0;    // of the current instruction in it, in bytes
  bool of_generator = false;  // from 3.11 on
};

template <class Memory>
class FrameWalk {
 public:
  FrameWalk(const Layout& layout, const void* thread) noexcept : layout_(layout) {
    next_ = read(reinterpret_cast<Address>(thread) + layout.thread_frame);
    if (layout.through_cframe && next_ != 0) next_ = read(next_ + layout.cframe_frame);
  }

  bool next() noexcept {
    // A frame list that memory damage has closed to a ring must end too.
    constexpr int kMostFrames = 10'000;
    while (next_ != 0 && ++steps_ < kMostFrames) {
      const Address frame = next_;
      next_ = read(frame + layout_.frame_back);
      if (layout_.owner >= 0) {
        const auto owner = load<std::uint8_t, Memory>(frame + static_cast<Address>(layout_.owner), kFirstForeignOwner);
        if (owner >= kFirstForeignOwner) continue;
        frame_.of_generator = owner == kGenerator;
      }
      // From 3.14 on the lowest bits of this pointer are flags.
      frame_.code = read(frame + layout_.frame_code) & ~Address{3};
      if (frame_.code == 0) continue;
      frame_.offset = offset_in(frame);
      return true;
    }
    return false;
  }

  const Frame& frame() const noexcept { return frame_; }

 private:
  static Address read(Address from) noexcept { return load<Address, Memory>(from); }

  std::int64_t offset_in(Address frame) const noexcept {
    const Address field = frame + layout_.frame_instruction;
    switch (layout_.instruction) {
      case Instruction::kByteOffset:
        return load<std::int32_t, Memory>(field);
      case Instruction::kUnitOffset:
        return std::int64_t{2} * load<std::int32_t, Memory>(field);
      case Instruction::kAddress:
        return static_cast<std::int64_t>(read(field) - frame_.code - layout_.code_instructions);
    }
    return 0;
  }

  const Layout& layout_;
  Address next_ = 0;
  Frame frame_;
  int steps_ = 0;
};

// The characters of a str as they lie in memory: `width` bytes each.
struct TextView {
  Address data = 0;
  std::size_t length = 0;
  std::uint8_t width = 1;
  bool ascii = true;

  std::size_t bytes() const noexcept { return length * width; }
};

template <class Memory>
TextView text_view(const Layout& layout, Address text) noexcept {
  constexpr std::size_t kLongest = 1 << 16;
  if (text == 0) return {};
  const auto state = load<std::uint32_t, Memory>(text + kTextState);
  const auto length = load<std::int64_t, Memory>(text + kVarSize);
  const bool ascii = (state >> 6 & 1) != 0;
  const auto width = static_cast<std::uint8_t>(state >> 2 & 7);
  const bool compact = (state >> 5 & 1) != 0;
  if (!compact || length < 0 || static_cast<std::size_t>(length) > kLongest) return {};
  if (width != 1 && width != 2 && width != 4) return {};
  return {text + (ascii ? layout.text_ascii : layout.text_other), static_cast<std::size_t>(length), width, ascii};
}

// As UTF-8. These allocate, and are for the rare paths.
std::string utf8_of(const TextView& text) noexcept;

struct FrameText {
  std::string function;
  std::string file;
  std::uint32_t line = 0;
};
// Guarded: nothing when the code object is gone.
std::optional<FrameText> describe(const Layout& layout, const Frame& frame) noexcept;

}  // namespace plumbline::shim::python
