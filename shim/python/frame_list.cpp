#include "shim/python/frame_list.hpp"

#include <ctime>

namespace plumbline::shim::python {
namespace {

constexpr int kLooks = 8;
// A thread can be put off the processor between two writes, and is then given time.
constexpr int kMostLooks = 30;
constexpr timespec kPause{0, 1'000'000};

bool ends_in_generator(const FrameList& list) noexcept {
  return list.count != 0 && list.count != FrameList::kMost && list.frames[list.count - 1].of_generator;
}

bool ends_like(const FrameList& list, const FrameList& other) noexcept {
  if (list.count == 0 || other.count == 0) return list.count == other.count;
  if (list.count == FrameList::kMost) return true;
  return list.frames[list.count - 1].code == other.frames[other.count - 1].code;
}

bool goes_further_out(const FrameList& list, const FrameList& other) noexcept {
  if (list.count == 0 || ends_in_generator(list) == ends_in_generator(other)) return list.count > other.count;
  return ends_in_generator(other);
}

}  // namespace

void list_frames(const Interpreter& python, Address thread, FrameList& out) noexcept {
  out.count = 0;
  if (thread == 0) return;
  FrameWalk<GuardedMemory> walk(python.layout, reinterpret_cast<const void*>(thread));
  while (out.count < FrameList::kMost && walk.next() && is_code(python, walk.frame().code))
    out.frames[out.count++] = walk.frame();
}

FrameList whole_frames(const Interpreter& python, Address thread, const FrameList& interrupted) noexcept {
  FrameList first = interrupted;
  if (first.count == 0) list_frames(python, thread, first);
  FrameList longest = first;
  for (int i = 1; i < kLooks || (ends_in_generator(longest) && i < kMostLooks); ++i) {
    if (i >= kLooks) nanosleep(&kPause, nullptr);
    FrameList again;
    list_frames(python, thread, again);
    if (goes_further_out(again, longest)) longest = again;
  }
  return ends_like(first, longest) ? first : longest;
}

}  // namespace plumbline::shim::python
