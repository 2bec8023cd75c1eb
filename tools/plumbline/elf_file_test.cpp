#include "tools/plumbline/elf_file.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>

#include "tools/plumbline/preload_block.hpp"
#include "tools/plumbline/scratch_directory.hpp"

namespace plumbline::tools {
namespace {

constexpr const char* kOwnProgram = "/proc/self/exe";

std::string bytes_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

TEST(ElfFile, OfADynamicProgram) {
  const auto elf = read_elf(kOwnProgram);
  ASSERT_TRUE(elf);
  EXPECT_TRUE(elf->dynamic);
  EXPECT_NE(elf->interpreter.find("ld-linux"), std::string::npos);
  EXPECT_TRUE(std::any_of(elf->needed.begin(), elf->needed.end(),
                          [](const std::string& name) { return name.starts_with("libc.so"); }));
}

TEST(ElfFile, OfOtherFiles) {
  const ScratchDirectory scratch;
  EXPECT_FALSE(read_elf(scratch.write("text", "#!/bin/sh\n")));
  EXPECT_FALSE(read_elf(scratch.write("empty", "")));
  EXPECT_FALSE(read_elf(scratch.path("missing")));
}

TEST(ElfFile, CutAtAnyPlaceIsReadWithoutHarm) {
  const ScratchDirectory scratch;
  const std::string whole = bytes_of(kOwnProgram);
  for (std::size_t length = 0; length < 4096; length += 7) read_elf(scratch.write("cut", whole.substr(0, length)));
  for (std::size_t at = 0; at < 1024; ++at) {
    std::string damaged = whole.substr(0, 1 << 16);
    damaged[at] = static_cast<char>(~damaged[at]);
    read_elf(scratch.write("damaged", damaged));
  }
}

TEST(PreloadBlock, TellsWhatTheLoaderWouldNotEnter) {
  EXPECT_EQ(preload_block(kOwnProgram), "");
  EXPECT_EQ(preload_block("/bin/sh"), "");
  const ScratchDirectory scratch;
  EXPECT_NE(preload_block(scratch.path("missing")).find("cannot be looked at"), std::string::npos);
  const std::string script = scratch.write_program("script", "#!/bin/sh\n");
  EXPECT_EQ(preload_block(script), "");
  std::filesystem::permissions(script, std::filesystem::perms::set_uid, std::filesystem::perm_options::add);
  EXPECT_NE(preload_block(script).find("set-user-ID"), std::string::npos);
}

// The header of a program with a single PT_LOAD segment: what a static program without an interpreter shows.
TEST(PreloadBlock, TellsAStaticProgram) {
  const ScratchDirectory scratch;
  std::string program = bytes_of(kOwnProgram).substr(0, 64);
  program[56] = 0;  // e_phnum
  EXPECT_NE(preload_block(scratch.write("static", program)).find("static"), std::string::npos);
}

}  // namespace
}  // namespace plumbline::tools
