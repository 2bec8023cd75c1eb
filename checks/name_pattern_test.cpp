#include "checks/name_pattern.hpp"

#include <gtest/gtest.h>

namespace plumbline::checks {
namespace {

TEST(NamePatternTest, AStarIsWithinAPart) {
  EXPECT_TRUE(matches("layers.*.attn.wq.weight", "layers.12.attn.wq.weight"));
  EXPECT_FALSE(matches("layers.*.wq.weight", "layers.12.attn.wq.weight"));
  EXPECT_TRUE(matches("layers.*.w*.weight", "layers.0.wq.weight"));
  EXPECT_FALSE(matches("layers.*", "layers.0.wq"));
  EXPECT_TRUE(matches("norm.weight", "norm.weight"));
  EXPECT_FALSE(matches("norm.weight", "norm.weight2"));
  EXPECT_FALSE(matches("", "norm"));
}

TEST(NamePatternTest, TwoStarsAreAnyParts) {
  EXPECT_TRUE(matches("**.q_norm.weight", "model.layers.0.attn.q_norm.weight"));
  EXPECT_TRUE(matches("**norm.*", "norm.weight"));
  EXPECT_TRUE(matches("**", "anything.at.all"));
  EXPECT_FALSE(matches("**.q_norm.weight", "q_norm.weight")) << "the dot before it is part of the pattern";
}

TEST(NamePatternTest, StarsAreCarriedOver) {
  EXPECT_EQ(translated("layers.*.wq.weight", "model.layers.*.q_proj.weight", "layers.3.wq.weight"),
            "model.layers.3.q_proj.weight");
  EXPECT_EQ(translated("blocks.*.experts.*.w", "b.*.e.*.w", "blocks.1.experts.7.w"), "b.1.e.7.w");
  EXPECT_EQ(translated("**.norm.weight", "model.**.ln.weight", "a.b.norm.weight"), "model.a.b.ln.weight");
  EXPECT_FALSE(translated("layers.*.wq", "model.layers.*.q", "layers.3.wk"));
  EXPECT_FALSE(translated("layers.*.wq", "model.q", "layers.3.wq")) << "another number of stars";
  EXPECT_FALSE(translated("wq", "layers.*.q", "wq"));
}

}  // namespace
}  // namespace plumbline::checks
