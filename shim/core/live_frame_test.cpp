#include "shim/core/live_frame.hpp"

#include <gtest/gtest.h>

#include <csetjmp>

namespace plumbline::shim {
namespace {

struct Entered {
  const void* frame = nullptr;
  const void* caller = nullptr;
};

// Keeps a frame of its own at the given depth below the caller.
template <class Body>
[[gnu::noinline]] void at_depth(int depth, Body body) {
  volatile char room[256] = {};
  if (depth == 0) {
    body();
  } else {
    at_depth(depth - 1, body);
  }
  room[0] = room[1];
}

template <class Body>
[[gnu::noinline]] void enter(Entered* entered, Body body) {
  *entered = {__builtin_frame_address(0), __builtin_return_address(0)};
  body();
  asm volatile("");  // keeps the call above from becoming a jump
}

TEST(LiveFrame, IsLiveForCodeInsideIt) {
  Entered entered;
  bool live = false;
  enter(&entered, [&] { at_depth(5, [&] { live = is_live_frame(entered.frame, entered.caller); }); });
  EXPECT_TRUE(live);
}

TEST(LiveFrame, IsNotLiveAfterItReturned) {
  Entered entered;
  enter(&entered, [] {});
  EXPECT_FALSE(is_live_frame(entered.frame, entered.caller));
}

// The case that addresses alone cannot decide: the next call comes from deeper than the frame that was left.
TEST(LiveFrame, IsNotLiveForDeeperCodeAfterAnotherWayOut) {
  Entered entered;
  std::jmp_buf way_out;
  if (setjmp(way_out) == 0) {
    enter(&entered, [&] { std::longjmp(way_out, 1); });
  }
  bool live = true;
  bool below = false;
  at_depth(20, [&] {
    below = __builtin_frame_address(0) < entered.frame;
    live = is_live_frame(entered.frame, entered.caller);
  });
  EXPECT_TRUE(below);
  EXPECT_FALSE(live);
}

}  // namespace
}  // namespace plumbline::shim
