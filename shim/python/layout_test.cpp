#include "shim/python/layout.hpp"

#include <gtest/gtest.h>

#include <array>

namespace plumbline::shim::python {
namespace {

using Words = std::array<std::uint64_t, kTableWords>;

// What the table of CPython 3.13.0 holds, as far as it is read.
Words python313() {
  Words words{};
  words[0] = 0x7970677562656478;
  words[1] = 0x030d00f0;
  words[6] = 280'000;  // the interpreter's section
  words[7] = 7'264;
  words[8] = 7'256;
  words[9] = 7'344;
  words[17] = 7'000;  // its lock: taken, by whom
  words[18] = 6'992;
  const std::uint64_t thread[] = {336, 0, 8, 16, 72, 152, 160, 192, 24};
  const std::uint64_t frame[] = {80, 8, 0, 56, 72, 70};
  const std::uint64_t code[] = {200, 112, 120, 128, 136, 68, 52, 96, 104, 192};
  std::size_t at = 19;
  for (const std::uint64_t word : thread) words[at++] = word;
  for (const std::uint64_t word : frame) words[at++] = word;
  for (const std::uint64_t word : code) words[at++] = word;
  return words;
}

TEST(Layout, KnownVersionsOnly) {
  for (int minor = 9; minor <= 12; ++minor) EXPECT_TRUE(layout_of(3, minor).has_value()) << minor;
  EXPECT_FALSE(layout_of(3, 8).has_value());
  EXPECT_FALSE(layout_of(3, 13).has_value());
  EXPECT_FALSE(layout_of(2, 11).has_value());
}

TEST(Layout, OfAnInterpreterThatTellsItself) {
  const auto layout = layout_from_table(python313());
  ASSERT_TRUE(layout.has_value());
  EXPECT_FALSE(layout->through_cframe);
  EXPECT_EQ(layout->thread_frame, 72);
  EXPECT_EQ(layout->thread_native_id, 160);
  EXPECT_EQ(layout->frame_back, 8);
  EXPECT_EQ(layout->frame_code, 0);
  EXPECT_EQ(layout->frame_instruction, 56);
  EXPECT_EQ(layout->owner, 70);
  EXPECT_EQ(layout->code_filename, 112);
  EXPECT_EQ(layout->code_name, 128);
  EXPECT_EQ(layout->code_lines, 136);
  EXPECT_EQ(layout->code_first_line, 68);
  EXPECT_EQ(layout->code_instructions, 192);
  EXPECT_EQ(layout->interpreter_threads, 7'344);
  EXPECT_EQ(layout->lock_locked, 7'000);
  EXPECT_EQ(layout->lock_holder, 6'992);
}

// 3.14 has more fields in the sections of the interpreter and of the frame.
TEST(Layout, SectionsMayGrow) {
  const Words old = python313();
  Words words{};
  std::copy_n(old.begin(), 10, words.begin());
  words[1] = 0x030e00f0;
  words[18] = 7'000;
  words[19] = 6'992;
  std::copy_n(old.begin() + 19, 15, words.begin() + 22);
  words[37] = 64;  // two more fields of the frame
  words[38] = 76;
  std::copy_n(old.begin() + 34, 10, words.begin() + 39);
  const auto layout = layout_from_table(words);
  ASSERT_TRUE(layout.has_value());
  EXPECT_EQ(layout->code_filename, 112);
  EXPECT_EQ(layout->code_instructions, 192);
  EXPECT_EQ(layout->lock_holder, 6'992);
}

TEST(Layout, WhatIsNoTableIsRefused) {
  EXPECT_FALSE(layout_from_table({}).has_value());
  EXPECT_FALSE(layout_from_table(Words{}).has_value());
  Words words = python313();
  words[2] = 1;  // without the interpreter lock
  EXPECT_FALSE(layout_from_table(words).has_value());
  words = python313();
  words[35] = 1 << 20;  // an absurd offset
  EXPECT_FALSE(layout_from_table(words).has_value());
  words = python313();
  words[21] = 9;  // no section of a thread
  EXPECT_FALSE(layout_from_table(words).has_value());
}

}  // namespace
}  // namespace plumbline::shim::python
