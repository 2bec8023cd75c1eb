// Unwinds this process's own threads, and compares with the unwinder of the C++ runtime.
#include "shim/stacks/unwind.hpp"

#include <gtest/gtest.h>
#include <ucontext.h>
#include <unwind.h>

#include <algorithm>
#include <csignal>
#include <string>

namespace plumbline::shim::stacks {
namespace {

std::vector<std::uint64_t> runtime_pcs() {
  std::vector<std::uint64_t> pcs;
  _Unwind_Backtrace(
      [](_Unwind_Context* context, void* out) {
        static_cast<std::vector<std::uint64_t>*>(out)->push_back(_Unwind_GetIP(context));
        return _URC_NO_REASON;
      },
      &pcs);
  while (!pcs.empty() && pcs.back() == 0) pcs.pop_back();
  return pcs;
}

class UnwindTest : public ::testing::Test {
 protected:
  UnwindTest() { modules_.refresh(); }
  ModuleMap modules_;
};

[[gnu::noinline]] NativeStack unwind_here(const ModuleMap& modules, int depth) {
  if (depth > 0) {
    NativeStack stack = unwind_here(modules, depth - 1);
    asm volatile("" ::: "memory");
    return stack;
  }
  ucontext_t context;
  getcontext(&context);
  return Unwinder(modules).unwind(from_context(context), StackMemory());
}

TEST_F(UnwindTest, SeesWhatTheRuntimeSees) {
  const std::vector<std::uint64_t> expected = runtime_pcs();
  const NativeStack stack = unwind_here(modules_, 5);
  EXPECT_TRUE(stack.complete);
  ASSERT_GE(stack.pcs.size(), expected.size() + 5);
  // The frames around this one are the same; a return address less 1.
  for (std::size_t i = 1; i + 1 < expected.size(); ++i)
    EXPECT_EQ(stack.pcs[stack.pcs.size() - i], expected[expected.size() - i] - 1) << i;
}

TEST_F(UnwindTest, ACopyOfTheStackIsEnough) {
  ucontext_t context;
  getcontext(&context);
  const Registers registers = from_context(context);
  std::vector<std::byte> copy(64 << 10);
  copy.resize(read_guarded(registers.sp(), copy.data(), copy.size()));
  const StackMemory memory(registers.sp(), copy.data(), copy.size());
  const NativeStack from_copy = Unwinder(modules_).unwind(registers, memory);
  const NativeStack from_live = Unwinder(modules_).unwind(registers, StackMemory());
  EXPECT_EQ(from_copy.pcs, from_live.pcs);
  EXPECT_TRUE(from_copy.complete);
}

NativeStack in_handler;
const ModuleMap* modules_for_handler = nullptr;

TEST_F(UnwindTest, GoesThroughASignalFrame) {
  modules_for_handler = &modules_;
  struct sigaction action {};
  struct sigaction before {};
  action.sa_handler = [](int) { in_handler = unwind_here(*modules_for_handler, 0); };
  sigaction(SIGUSR1, &action, &before);
  raise(SIGUSR1);
  sigaction(SIGUSR1, &before, nullptr);
  EXPECT_TRUE(in_handler.complete);
  const NativeStack outside = unwind_here(modules_, 0);
  ASSERT_GT(in_handler.pcs.size(), outside.pcs.size());
  EXPECT_EQ(in_handler.pcs.back(), outside.pcs.back());
}

TEST_F(UnwindTest, NonsenseIsEmptyOrShort) {
  Registers registers;
  registers.set(kStackPointer, 0x10);
  registers.set(kProgramCounter, 0x10);
  EXPECT_TRUE(Unwinder(modules_).unwind(registers, StackMemory()).pcs.empty());
  registers.set(kProgramCounter, reinterpret_cast<Address>(&unwind_here) + 20);
  const NativeStack stack = Unwinder(modules_).unwind(registers, StackMemory());
  EXPECT_EQ(stack.pcs.size(), 1u);
  EXPECT_FALSE(stack.complete);
}

TEST(ModuleMapTest, ReadsAMapsFile) {
  ModuleMap map;
  map.parse(
      "1000-2000 r--p 00000000 08:01 10   /lib/a b.so\n"
      "2000-4000 r-xp 00001000 08:01 10   /lib/a b.so\n"
      "4000-5000 rw-p 00003000 08:01 10   /lib/a b.so\n"
      "6000-7000 r-xp 00000000 00:00 0 \n"
      "8000-9000 r-xp 00000000 00:00 0    [vdso]\n"
      "nonsense\n");
  ASSERT_EQ(map.modules().size(), 2u);
  const MappedModule* const module = map.find(0x2fff);
  ASSERT_NE(module, nullptr);
  EXPECT_EQ(module->path, "/lib/a b.so");
  EXPECT_EQ(module->image, 0x1000u);
  EXPECT_EQ(module->file_offset, 0x1000u);
  EXPECT_EQ(map.find(0x1fff), nullptr);
  EXPECT_EQ(map.find(0x4000), nullptr);
  EXPECT_EQ(map.find(0x8000)->path, "[vdso]");
  EXPECT_EQ(map.find(0), nullptr);
}

TEST(ModuleMapTest, KnowsTheBuildIdOfWhatIsMapped) {
  ModuleMap map;
  map.refresh();
  const MappedModule* const libc = map.find(reinterpret_cast<Address>(&raise));
  ASSERT_NE(libc, nullptr);
  EXPECT_NE(libc->path.find("libc"), std::string::npos);
  const recorder::ModuleDetails details = details_of(*libc);
  EXPECT_EQ(details.build_id.size(), 40u);
  EXPECT_EQ(details.build_id.find_first_not_of("0123456789abcdef"), std::string::npos);
  EXPECT_NE(read_elf(libc->image).frame_header, 0u);
}

TEST(ModuleMapTest, WhatIsNoElfHasNoFacts) {
  EXPECT_EQ(read_elf(0).frame_header, 0u);
  EXPECT_EQ(read_elf(0x1000).frame_header, 0u);
  const std::string text(4096, 'x');
  EXPECT_EQ(read_elf(reinterpret_cast<Address>(text.data())).build_id, "");
}

}  // namespace
}  // namespace plumbline::shim::stacks
