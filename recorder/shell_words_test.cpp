#include "recorder/shell_words.hpp"

#include <gtest/gtest.h>

namespace plumbline::recorder {
namespace {

using Words = std::vector<std::string>;

TEST(ShellWords, OrdinaryOnesStayAsTheyAre) {
  EXPECT_EQ(shell_line(Words{"python", "-m", "torch.distributed.run", "--nproc-per-node=2", "train.py"}),
            "python -m torch.distributed.run --nproc-per-node=2 train.py");
}

TEST(ShellWords, OthersAreQuoted) {
  EXPECT_EQ(shell_word("two words"), "'two words'");
  EXPECT_EQ(shell_word(""), "''");
  EXPECT_EQ(shell_word("don't"), "'don'\\''t'");
  EXPECT_EQ(shell_word("$HOME;*"), "'$HOME;*'");
}

TEST(ShellWords, ComeFromArgumentsThatEndWithZeroBytes) {
  EXPECT_EQ(shell_line(std::string_view("python\0a b\0\0x\0", 14)), "python 'a b' '' x");
  EXPECT_EQ(shell_line(std::string_view("python\0cut", 10)), "python cut");
  EXPECT_EQ(shell_line(std::string_view()), "");
}

TEST(ShellWords, AreTheSameOnTheWayBack) {
  for (const Words& words :
       {Words{"python", "train.py"}, Words{"a b", "", "don't", "\"x\"", "back\\slash", "new\nline"},
        Words{"'", "''", " "}, Words{}, Words{"größe=\xff"}}) {
    const auto back = split_shell_line(shell_line(words));
    ASSERT_TRUE(back);
    EXPECT_EQ(*back, words);
  }
}

TEST(ShellWords, WithAnOpenQuoteAreNone) { EXPECT_FALSE(split_shell_line("python 'train.py")); }

}  // namespace
}  // namespace plumbline::recorder
