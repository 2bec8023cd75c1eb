#include "checks/outputs.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace plumbline::checks {
namespace {

constexpr double kNoNumber = std::numeric_limits<double>::infinity();

// Two prompts, answered alike.
OutputComparison alike() {
  OutputComparison both;
  both.engine = "transformers 5.18.0, torch 2.11.0, cpu";
  both.original = {.path = "original", .dtype = "float32", .vocabulary = 32, .ends = {2}, .has_tokenizer = true};
  both.exported = both.original;
  both.exported.path = "exported";
  for (const char* prompt : {"'one'", "'two'"}) {
    PromptOutputs one{.prompt = prompt, .given = {1, 5}, .original = {7, 8, 9}, .exported = {7, 8, 9}};
    one.exported_given = one.given;
    both.prompts.push_back(one);
  }
  return both;
}

TEST(OutputsTest, TheSameBitForBitPasses) {
  const Verdict verdict = check_outputs(alike());
  EXPECT_EQ(verdict.status, Status::kPass);
  EXPECT_EQ(verdict.reason,
            "6 greedy tokens of 2 answers are the same, and their logits bit for bit (float32, transformers 5.18.0, "
            "torch 2.11.0, cpu)");
}

TEST(OutputsTest, NothingAskedIsNoPass) {
  OutputComparison both = alike();
  both.prompts.clear();
  EXPECT_EQ(check_outputs(both).status, Status::kNotEvaluated);
}

TEST(OutputsTest, AnotherAnswerFailsAtItsFirstPosition) {
  OutputComparison both = alike();
  both.prompts[1].exported = {7, 3, 9};
  both.prompts[1].lead = 0.25;
  both.prompts[1].distance = 4;
  const Verdict verdict = check_outputs(both);
  EXPECT_EQ(verdict.status, Status::kFail);
  ASSERT_EQ(verdict.findings.size(), 1U);
  EXPECT_EQ(
      verdict.findings[0].title,
      "greedy answers differ after 1 of 2 prompts: after 'two', answer position 1: token 3 in the export, token 8 "
      "in the original (its logit is 0.25 above the next best)");
  EXPECT_EQ(verdict.findings[0].next,
            "run-reader check export exported --reference original names the tensors and settings");
}

TEST(OutputsTest, RoundingMayPartAnswersOfNarrowerTypes) {
  OutputComparison both = alike();
  both.exported.dtype = "bfloat16";
  both.prompts[1].exported = {7, 3, 9};
  both.prompts[1].distance = 0.1;
  EXPECT_EQ(check_outputs(both).status, Status::kInconclusive);
}

TEST(OutputsTest, AnEngineThatDoesNotRepeatItselfDecidesNothing) {
  OutputComparison both = alike();
  both.prompts[1].exported = {7, 3, 9};
  both.prompts[1].repeat_distance = 1e-6;
  EXPECT_EQ(check_outputs(both).status, Status::kInconclusive);
  // Inside of what the original differs from itself.
  both = alike();
  both.prompts[0].distance = 1e-6;
  both.prompts[0].repeat_distance = 1e-6;
  EXPECT_EQ(check_outputs(both).status, Status::kPass);
}

TEST(OutputsTest, OtherLogitsUnderTheSameAnswersStayOpen) {
  OutputComparison both = alike();
  both.prompts[0].distance = 1e-3;
  both.prompts[1].distance = 2e-3;
  const Verdict verdict = check_outputs(both);
  EXPECT_EQ(verdict.status, Status::kInconclusive);
  EXPECT_NE(verdict.reason.find("after 'two' they differ by up to 0.002"), std::string::npos) << verdict.reason;
}

TEST(OutputsTest, LogitsThatAreNoNumbersFail) {
  OutputComparison both = alike();
  both.prompts[1].distance = kNoNumber;
  EXPECT_EQ(check_outputs(both).reason, "after 'two' the export's logits are no numbers");
  // Already the original's are none: nothing can be said.
  both = alike();
  both.prompts[0].finite = false;
  EXPECT_EQ(check_outputs(both).status, Status::kInconclusive);
}

TEST(OutputsTest, WhatTheEngineMadeUpOrLeftOutFails) {
  OutputComparison both = alike();
  both.exported.missing = {"lm_head.weight"};
  both.exported.unexpected = {"a.lora_A", "b.lora_A"};
  const Verdict verdict = check_outputs(both);
  EXPECT_EQ(verdict.status, Status::kFail);
  ASSERT_EQ(verdict.findings.size(), 2U);
  EXPECT_EQ(verdict.findings[0].title,
            "the export lacks 1 parameter of the model, which the engine made up: lm_head.weight");
  EXPECT_NE(verdict.findings[1].title.find("2 tensors of the export"), std::string::npos);
}

TEST(OutputsTest, WhatTheOriginalLacksAsWellIsNoFaultOfTheExportAndNoPass) {
  OutputComparison both = alike();
  both.original.missing = both.exported.missing = {"score.weight"};
  both.original.unexpected = both.exported.unexpected = {"mtp.weight"};
  const Verdict verdict = check_outputs(both);
  EXPECT_EQ(verdict.status, Status::kInconclusive);
  EXPECT_TRUE(verdict.findings.empty());
  ASSERT_EQ(verdict.unknown.size(), 1U);
  EXPECT_EQ(verdict.unknown[0], "original itself lacks score.weight: the engine made them up");
}

TEST(OutputsTest, AnotherEndTokenIsOneFindingWithWhereItStops) {
  OutputComparison both = alike();
  both.exported.ends = {2, 8};
  both.prompts[0].exported = {7, 8};
  const Verdict verdict = check_outputs(both);
  EXPECT_EQ(verdict.status, Status::kFail);
  ASSERT_EQ(verdict.findings.size(), 1U);
  EXPECT_EQ(verdict.findings[0].title, "the export stops at tokens 2, 8, the original at token 2");
  EXPECT_EQ(verdict.findings[0].details.front(),
            "after 'one', answer position 2: no token any more in the export, token 9 in the original");
  both.exported.ends.clear();
  EXPECT_EQ(check_outputs(both).reason, "the export stops at no token, the original at token 2");
}

TEST(OutputsTest, OtherTokensOfOneTextFail) {
  OutputComparison both = alike();
  both.prompts[0].exported_given = TokenIds{1, 1, 5};
  const Verdict verdict = check_outputs(both);
  EXPECT_EQ(verdict.status, Status::kFail);
  EXPECT_EQ(verdict.findings[0].details.front(),
            "of 'one', position 1: token 1 by the export's, token 5 by the original's");
}

TEST(OutputsTest, ATokenizerThatIsAbsentStaysOpenAndABrokenOneFails) {
  OutputComparison both = alike();
  both.exported.has_tokenizer = false;
  EXPECT_EQ(check_outputs(both).status, Status::kInconclusive);
  both.exported.tokenizer_error = "ValueError: no vocabulary";
  EXPECT_EQ(check_outputs(both).reason,
            "the export's tokenizer cannot be loaded, the original's can: ValueError: no vocabulary");
}

TEST(OutputsTest, AnExportThatRaisesOrHasAnotherVocabularyFails) {
  OutputComparison both = alike();
  both.exported.vocabulary = 30;
  both.prompts[0].raised = "IndexError: index out of range";
  const Verdict verdict = check_outputs(both);
  ASSERT_EQ(verdict.findings.size(), 2U);
  EXPECT_EQ(verdict.findings[0].title, "the export's embedding has 30 rows, the original's 32");
  EXPECT_EQ(verdict.findings[1].title, "the export answers nothing to 1 prompt, the original does");
}

}  // namespace
}  // namespace plumbline::checks
