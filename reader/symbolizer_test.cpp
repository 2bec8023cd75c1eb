// Names this test's own functions, from the file that it was started from.
#include "reader/symbolizer.hpp"

#include <gtest/gtest.h>
#include <link.h>

#include <fstream>
#include <sstream>

#include "reader/testing/records.hpp"

namespace plumbline::reader {

[[gnu::noinline]] int a_function_to_be_named(int number) {
  asm volatile("" ::: "memory");
  return number + 1;
}

namespace {

using testing::TempDir;

// Where this program is mapped for execution.
Module own_module() {
  std::ifstream maps("/proc/self/maps");
  const auto address = reinterpret_cast<std::uint64_t>(&a_function_to_be_named);
  for (std::string line; std::getline(maps, line);) {
    std::istringstream words(line);
    std::uint64_t begin, end, offset;
    char dash;
    std::string rights, device, inode, path;
    words >> std::hex >> begin >> dash >> end >> rights >> offset >> device >> inode >> path;
    if (address < begin || address >= end) continue;
    const auto symbols = ElfSymbols::open(path);
    return {begin, end, offset, path, symbols.ok() ? symbols->build_id() : ""};
  }
  return {};
}

Stack stack_at(const void* address) {
  Stack stack;
  stack.native.push_back({reinterpret_cast<std::uint64_t>(address) + 1, "", "", 0});
  return stack;
}

TEST(Symbolizer, NamesAFunction) {
  const Module module = own_module();
  ASSERT_FALSE(module.path.empty());
  Symbolizer symbolizer;
  Stack stack = stack_at(reinterpret_cast<const void*>(&a_function_to_be_named));
  symbolizer.resolve({module}, stack);
  EXPECT_EQ(stack.native[0].function, "plumbline::reader::a_function_to_be_named(int)");
  EXPECT_EQ(stack.native[0].file, module.path);
  EXPECT_TRUE(symbolizer.missing().empty());
  EXPECT_TRUE(symbolizer.changed().empty());
}

TEST(Symbolizer, AnotherBuildIsNotTrusted) {
  Module module = own_module();
  module.build_id = "0123";
  Symbolizer symbolizer;
  Stack stack = stack_at(reinterpret_cast<const void*>(&a_function_to_be_named));
  symbolizer.resolve({module}, stack);
  EXPECT_EQ(stack.native[0].function, "");
  EXPECT_EQ(stack.native[0].file, module.path);
  EXPECT_EQ(symbolizer.changed(), (std::set<std::string>{module.path}));
}

TEST(Symbolizer, WhatIsNotHereIsSaid) {
  Symbolizer symbolizer;
  Stack stack;
  stack.native = {{0x1010, "", "", 0}, {0x3010, "", "", 0}, {0x9000, "", "", 0}, {0, "imported", "a.py", 3}};
  symbolizer.resolve({{0x1000, 0x2000, 0, "/nowhere/lib.so", "00"}, {0x3000, 0x4000, 0, "[vdso]", ""}}, stack);
  EXPECT_EQ(symbolizer.missing(), (std::set<std::string>{"/nowhere/lib.so"}));
  EXPECT_EQ(stack.native[0].file, "/nowhere/lib.so");
  EXPECT_EQ(stack.native[2].file, "");
  EXPECT_EQ(stack.native[3].function, "imported");
}

TEST(ElfSymbols, DamageIsNoHarm) {
  const Module module = own_module();
  const auto bytes = testing::read_file(module.path);
  const TempDir dir;
  for (const std::size_t length :
       {std::size_t{0}, std::size_t{3}, std::size_t{64}, std::size_t{4096}, bytes.size() / 2}) {
    testing::write_file(dir / "cut", {bytes.data(), length});
    const auto cut = ElfSymbols::open(dir / "cut");
    EXPECT_TRUE(!cut.ok() || cut->function_at(0x1000).empty());
  }
  for (std::size_t at = 0; at < 64; ++at) {
    auto damaged = std::vector<std::uint8_t>(bytes.begin(), bytes.begin() + 8192);
    damaged[at] ^= 0xff;
    testing::write_file(dir / "damaged", damaged);
    const auto opened = ElfSymbols::open(dir / "damaged");
    if (opened.ok()) opened->function_at(0x1000);
  }
  EXPECT_FALSE(ElfSymbols::open(dir / "absent").ok());
  testing::write_file(dir / "text", "#!/bin/sh\n");
  EXPECT_FALSE(ElfSymbols::open(dir / "text").ok());
}

TEST(Demangled, LeavesOtherNamesAlone) {
  EXPECT_EQ(demangled("_ZN3c109alloc_cpuEm"), "c10::alloc_cpu(unsigned long)");
  EXPECT_EQ(demangled("PyEval_EvalCode"), "PyEval_EvalCode");
  EXPECT_EQ(demangled(""), "");
}

}  // namespace
}  // namespace plumbline::reader
