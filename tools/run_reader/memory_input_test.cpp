#include "tools/run_reader/memory_input.hpp"

#include <gtest/gtest.h>

namespace plumbline::tools {
namespace {

using checks::Dimension;

TEST(MemoryInputTest, AModelsConfigurationIsRead) {
  const auto dimensions =
      config_dimensions(R"({"hidden_size": 3584, "num_attention_heads": 28, "num_key_value_heads": 4,
      "intermediate_size": 18944, "vocab_size": 151936, "num_hidden_layers": 28, "model_type": "qwen2"})",
                        "config.json");
  ASSERT_TRUE(dimensions.ok());
  EXPECT_EQ(checks::value_of(dimensions->fixed, "kv_heads"), 4U);
  EXPECT_EQ(checks::value_of(dimensions->fixed, "head_dim"), 128U);
  EXPECT_EQ(checks::value_of(dimensions->fixed, "vocabulary"), 151936U);
}

TEST(MemoryInputTest, TheLanguagePartOfAModelOfSeveralModalitiesIsTaken) {
  const auto dimensions = config_dimensions(R"({"vision_config": {"hidden_size": 1152},
      "text_config": {"hidden_size": 2816, "head_dim": 512, "num_attention_heads": 16}})",
                                            "config.json");
  ASSERT_TRUE(dimensions.ok());
  EXPECT_EQ(checks::value_of(dimensions->fixed, "hidden"), 2816U);
  EXPECT_EQ(checks::value_of(dimensions->fixed, "head_dim"), 512U);
}

TEST(MemoryInputTest, WhatIsNoConfigurationIsNamed) {
  EXPECT_EQ(config_dimensions("[1, 2", "x.json").status().message(),
            "x.json is not the JSON of a model's configuration.");
  EXPECT_EQ(config_dimensions("{}", "x.json").status().message(),
            "x.json names no dimension of a model that is known here.");
  EXPECT_FALSE(config_dimensions(R"({"hidden_size": -1})", "x.json").ok());
  EXPECT_FALSE(run_dimensions("no/such/config.json", "").ok());
}

TEST(MemoryInputTest, DimensionsOfTheRunAndOfItsSteps) {
  const auto dimensions = parse_dimensions("batch=8,length@12=10600,batch@12=4,length@13/2=512");
  ASSERT_TRUE(dimensions.ok());
  EXPECT_EQ(dimensions->fixed, (std::vector<Dimension>{{"batch", 8}}));
  EXPECT_EQ(dimensions->shape_at(12, 5), (std::vector<Dimension>{{"length", 10600}, {"batch", 4}}));
  EXPECT_EQ(dimensions->shape_at(13, 2), (std::vector<Dimension>{{"length", 512}, {"batch", 8}}));
  EXPECT_TRUE(dimensions->shape_at(13, 1).empty());
}

TEST(MemoryInputTest, WhatIsNotUnderstoodIsRefused) {
  for (const char* text : {"batch", "batch=", "=3", "batch=0", "batch=x", "length@=3", "length@-1=3", "length@1/x=3"})
    EXPECT_FALSE(parse_dimensions(text).ok()) << text;
  EXPECT_TRUE(parse_dimensions("").ok());
}

}  // namespace
}  // namespace plumbline::tools
