#include "shim/core/current_call.hpp"

#include <gtest/gtest.h>

#include <thread>

namespace plumbline::shim {
namespace {

TEST(CurrentCall, IsNoneOnAThreadThatNeverCalled) {
  std::thread([] { EXPECT_EQ(enclosing_call(__builtin_frame_address(0)).collective, 0u); }).join();
}

TEST(CurrentCall, EnclosesWhatLiesBelowItsFrameOnly) {
  std::thread([] {
    char stack[3];  // three frames: stacks grow downwards
    CurrentCall* call = own_call();
    ASSERT_NE(call, nullptr);
    *call = {7, 70, &stack[1], nullptr, 0, nullptr};
    EXPECT_EQ(enclosing_call(&stack[0]).collective, 7u);
    EXPECT_EQ(enclosing_call(&stack[0]).group, 70u);
    EXPECT_EQ(enclosing_call(&stack[1]).collective, 0u);
    EXPECT_EQ(enclosing_call(&stack[2]).collective, 0u);
    *call = {};
    EXPECT_EQ(enclosing_call(&stack[0]).collective, 0u);
  }).join();
}

TEST(CurrentCall, BelongsToItsThread) {
  CurrentCall* mine = own_call();
  ASSERT_NE(mine, nullptr);
  EXPECT_EQ(own_call(), mine);
  *mine = {7, 0, reinterpret_cast<const void*>(~std::uintptr_t{0}), nullptr, 0, nullptr};
  std::thread([mine] {
    EXPECT_NE(own_call(), mine);
    EXPECT_EQ(enclosing_call(nullptr).collective, 0u);
  }).join();
  EXPECT_EQ(enclosing_call(nullptr).collective, 7u);
  *mine = {};
}

}  // namespace
}  // namespace plumbline::shim
