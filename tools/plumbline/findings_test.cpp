#include "tools/plumbline/findings.hpp"

#include <gtest/gtest.h>

namespace plumbline::tools {
namespace {

TEST(Findings, OneLineEach) {
  Findings findings;
  EXPECT_EQ(findings.text(), "");
  findings.fine("torch", "2.11.0");
  findings.note("cuda", "none");
  findings.problem("nccl", "static");
  EXPECT_EQ(findings.text(), "ok    torch: 2.11.0\nnote  cuda: none\nBAD   nccl: static\n");
}

TEST(Findings, ANoteIsNoProblem) {
  Findings findings;
  findings.fine("a", "b");
  findings.note("c", "d");
  EXPECT_FALSE(findings.any_problem());
  findings.problem("e", "f");
  EXPECT_TRUE(findings.any_problem());
}

}  // namespace
}  // namespace plumbline::tools
