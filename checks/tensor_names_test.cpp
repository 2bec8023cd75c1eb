#include "checks/tensor_names.hpp"

#include <gtest/gtest.h>

#include "reader/checkpoint/testing/checkpoint_files.hpp"

namespace plumbline::checks {
namespace {

using reader::Checkpoint;
using reader::testing::checkpoint_of;
using reader::testing::TensorData;

Checkpoint named(const std::vector<std::string>& names) {
  std::vector<TensorData> tensors;
  for (const std::string& name : names) tensors.push_back(reader::testing::tensor(name, {1}, 1));
  return checkpoint_of(std::move(tensors));
}

struct Outcome {
  std::size_t pairs;
  std::string words;
  std::size_t only_subject;
  std::size_t only_reference;
};

Outcome match(const std::vector<std::string>& subject, const std::vector<std::string>& reference) {
  const Checkpoint mine = named(subject);
  const Checkpoint theirs = named(reference);
  const NameMatch found = match_names(parameters_of(mine), parameters_of(theirs));
  return {found.pairs.size(), prefix_words(found, "module", "file"), found.only_subject.size(),
          found.only_reference.size()};
}

TEST(TensorNamesTest, NamesThatAreAlikeNeedNoWords) {
  const Outcome outcome = match({"a.w", "b.w", "x"}, {"a.w", "b.w", "y"});
  EXPECT_EQ(outcome.pairs, 2U);
  EXPECT_EQ(outcome.words, "");
  EXPECT_EQ(outcome.only_subject, 1U);
  EXPECT_EQ(outcome.only_reference, 1U);
}

TEST(TensorNamesTest, APrefixOfTheFile) {
  const Outcome outcome = match({"embed.w", "layers.0.w"}, {"model.embed.w", "model.layers.0.w", "lm_head.w"});
  EXPECT_EQ(outcome.pairs, 2U);
  EXPECT_EQ(outcome.words, "file keys start with \"model.\", module keys do not");
  EXPECT_EQ(outcome.only_reference, 1U);
}

TEST(TensorNamesTest, APrefixOfTheModule) {
  EXPECT_EQ(match({"module.a.w", "module.b.w"}, {"a.w", "b.w"}).words,
            "module keys start with \"module.\", file keys do not");
}

TEST(TensorNamesTest, BothHaveOne) {
  const Outcome outcome = match({"module.a.w", "module.b.w"}, {"transformer.a.w", "transformer.b.w"});
  EXPECT_EQ(outcome.pairs, 2U);
  EXPECT_EQ(outcome.words, "file keys start with \"transformer.\", module keys with \"module.\"");
}

TEST(TensorNamesTest, WrappersAreTakenOffAnywhere) {
  const Outcome outcome =
      match({"_orig_mod.layers.0._fsdp_wrapped_module._checkpoint_wrapped_module.w"}, {"layers.0.w"});
  EXPECT_EQ(outcome.pairs, 1U);
  EXPECT_EQ(outcome.words, "");
}

TEST(TensorNamesTest, NothingInCommon) {
  const Outcome outcome = match({"base.lora_A"}, {"a.w", "b.w"});
  EXPECT_EQ(outcome.pairs, 0U);
  EXPECT_EQ(outcome.words, "");
}

TEST(TensorNamesTest, ParametersLieInADictionaryThatIsCalledLikeAModel) {
  Checkpoint checkpoint = named({"model.a.w", "optimizer.state.0.exp_avg", "rng"});
  for (reader::Tensor& tensor : checkpoint.tensors) {
    if (tensor.name.starts_with("model.")) tensor.section_size = 6;
    if (tensor.name.starts_with("optimizer.")) tensor.section_size = 18;
    if (tensor.name == "rng") tensor.section_size = 0;
  }
  checkpoint.tensors.erase(checkpoint.tensors.end() - 1);
  const auto parameters = parameters_of(checkpoint);
  ASSERT_EQ(parameters.size(), 1U);
  EXPECT_EQ(parameters[0]->key(), "a.w");
}

}  // namespace
}  // namespace plumbline::checks
