#include "shim/core/activation.hpp"

#include <gtest/gtest.h>

namespace plumbline::shim {
namespace {

TEST(Exclusion, MatchesProgramNamesByPattern) {
  EXPECT_TRUE(excluded_by("cc1plus", "cc1plus"));
  EXPECT_TRUE(excluded_by("nvcc,cc1*,ld", "cc1plus"));
  EXPECT_TRUE(excluded_by("nvcc,,ld", "ld"));
  EXPECT_FALSE(excluded_by("nvcc,cc1*,ld", "python3"));
}

TEST(Exclusion, NoPatternExcludesNothing) {
  EXPECT_FALSE(excluded_by(nullptr, "python3"));
  EXPECT_FALSE(excluded_by("", "python3"));
  EXPECT_FALSE(excluded_by(",,", "python3"));
}

TEST(Exclusion, APatternBeyondAllReasonIsLeftOut) {
  const std::string endless(1000, '*');
  EXPECT_FALSE(excluded_by(endless.c_str(), "python3"));
  EXPECT_TRUE(excluded_by((endless + ",py*").c_str(), "python3"));
}

}  // namespace
}  // namespace plumbline::shim
