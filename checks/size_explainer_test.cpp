#include "checks/size_explainer.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <set>
#include <string>

namespace plumbline::checks {
namespace {

constexpr std::array kHost = {SizeRounding::kNone};
constexpr std::array kCuda = {SizeRounding::kNone, SizeRounding::kBlock, SizeRounding::kSegment};
constexpr std::uint64_t kGiB = std::uint64_t{1} << 30;

// A model whose numbers are not all powers of two.
const std::vector<Dimension> kModel = {{"heads", 28},  {"kv_heads", 4},         {"head_dim", 128},     {"hidden", 3584},
                                       {"layers", 28}, {"intermediate", 18944}, {"vocabulary", 151936}};

std::set<std::string> texts_of(const SizeExplanation& explanation) {
  std::set<std::string> texts;
  for (const SizeClass& one : explanation.classes) {
    texts.insert(one.formula.text());
    for (const Formula& other : one.others) texts.insert(other.text());
  }
  return texts;
}

AskedSizes seen(std::uint64_t batch, std::uint64_t length, std::uint64_t size) {
  return {{{"batch", batch}, {std::string(kLength), length}}, {size}, 0, 0, 0};
}

TEST(SizeExplainerTest, LogitsInFp32) {
  const SizeExplanation explanation = explain_sizes(kModel, std::vector{seen(4, 8192, 19914555392)}, kHost);
  ASSERT_FALSE(explanation.classes.empty());
  EXPECT_TRUE(texts_of(explanation).contains("batch x length x vocabulary x 4 B"));
}

TEST(SizeExplainerTest, AnotherRowLengthTellsTheBatchFromOtherNumbers) {
  const std::vector<AskedSizes> both = {seen(4, 8192, 19914555392), seen(3, 5003, 3ull * 5003 * 151936 * 4)};
  const SizeExplanation explanation = explain_sizes(kModel, both, kHost);
  ASSERT_EQ(explanation.classes.size(), 1U);
  const Formula& formula = explanation.classes[0].formula;
  EXPECT_EQ(formula.text(), "batch x length x vocabulary x 4 B");
  EXPECT_EQ(formula.row_power(), 1U);
  EXPECT_EQ(growth_text(formula), "grows linearly with the row length");
}

// Sixteen logged requests of a key-value cache that was expanded for every pair of rows: (b·L)·(b·n_kv)·512 in bf16.
TEST(SizeExplainerTest, SixteenLoggedRequestsRoundedToTwoMebibytes) {
  const std::vector<Dimension> model = {{"heads", 16},    {"kv_heads", 4},        {"head_dim", 512},
                                        {"hidden", 2816}, {"vocabulary", 262144}, {"intermediate", 2112},
                                        {"layers", 30}};
  std::vector<AskedSizes> logged;
  for (std::uint64_t index = 0; index < 16; ++index) {
    const std::uint64_t batch = 2 + index % 5;
    const std::uint64_t length = 1801 + index * 977;
    logged.push_back(seen(batch, length, rounded(batch * length * batch * 4 * 512 * 2, SizeRounding::kSegment)));
  }
  const SizeExplanation explanation = explain_sizes(model, logged, kCuda);
  ASSERT_FALSE(explanation.classes.empty());
  EXPECT_EQ(explanation.observations, 16U);
  EXPECT_TRUE(texts_of(explanation).contains("batch^2 x length x kv_heads x head_dim x 2 B, rounded up to 2 MiB"));
  for (const SizeClass& one : explanation.classes) EXPECT_EQ(one.formula.row_power(), 1U) << one.formula.text();
}

TEST(SizeExplainerTest, OneRequestThatDoesNotFitRefutesTheFormula) {
  std::vector<AskedSizes> logged;
  for (std::uint64_t index = 0; index < 16; ++index) {
    const std::uint64_t length = 1801 + index * 977;
    logged.push_back(seen(2, length, rounded(length * 4 * 4 * 512, SizeRounding::kSegment)));
  }
  ASSERT_FALSE(explain_sizes(kModel, logged, kCuda).classes.empty());
  logged[9].sizes[0] += 2 << 20;
  EXPECT_TRUE(explain_sizes(kModel, logged, kCuda).classes.empty());
}

TEST(SizeExplainerTest, ScoresOfAttentionGrowWithTheSquare) {
  const std::uint64_t size = 64ull * 27672 * 27672;
  const SizeExplanation fp32 =
      explain_sizes({{"heads", 16}, {"head_dim", 128}}, std::vector{seen(1, 27672, size)}, kHost);
  ASSERT_FALSE(fp32.classes.empty());
  EXPECT_EQ(fp32.classes[0].formula.text(), "length^2 x heads x 4 B");
  EXPECT_EQ(growth_text(fp32.classes[0].formula), "grows with the square of the row length");
  const SizeExplanation bf16 =
      explain_sizes({{"heads", 32}, {"head_dim", 128}}, std::vector{seen(1, 27672, size)}, kHost);
  ASSERT_FALSE(bf16.classes.empty());
  EXPECT_EQ(bf16.classes[0].formula.text(), "length^2 x heads x 2 B");
}

TEST(SizeExplainerTest, ASizePrintedWithTwoDigitsStillTells) {
  AskedSizes printed = seen(1, 27672, static_cast<std::uint64_t>(45.64 * static_cast<double>(kGiB)));
  printed.tolerance = kGiB / 200;
  const SizeExplanation explanation =
      explain_sizes({{"heads", 16}, {"hidden", 2048}, {"vocabulary", 151936}}, std::vector{printed}, kCuda);
  ASSERT_FALSE(explanation.classes.empty());
  EXPECT_TRUE(texts_of(explanation).contains("length^2 x heads x 4 B"));
}

TEST(SizeExplainerTest, RowsAreFoundFromTheSizeItself) {
  const std::vector<AskedSizes> failed = {{{}, {84805ull * 151936 * 4}, 0, 0, 0}};
  const SizeExplanation explanation = explain_rows(kModel, failed, kHost);
  ASSERT_FALSE(explanation.classes.empty());
  EXPECT_EQ(explanation.classes[0].formula.text(), "rows x vocabulary x 4 B");
  EXPECT_EQ(explanation.rows, std::vector<std::uint64_t>{84805});
}

TEST(SizeExplainerTest, NoRowsAreFoundInJustAnySize) {
  EXPECT_TRUE(explain_rows(kModel, std::vector<AskedSizes>{{{}, {51539607553}, 0, 0, 0}}, kHost).classes.empty());
  // Every even size is a number of rows of a power of two.
  EXPECT_TRUE(explain_rows({{"hidden", 4096}}, std::vector<AskedSizes>{{{}, {kGiB}, 0, 0, 0}}, kHost).classes.empty());
}

TEST(SizeExplainerTest, NothingIsGivenWhenNothingFits) {
  const SizeExplanation explanation = explain_sizes(kModel, std::vector{seen(4, 8192, 19914555393)}, kHost);
  EXPECT_TRUE(explanation.classes.empty());
  EXPECT_EQ(explanation.observations, 1U);
  EXPECT_TRUE(explain_sizes(kModel, {}, kHost).classes.empty());
}

TEST(SizeExplainerTest, FormulasThatCannotBeToldApartAreAllGiven) {
  // The row is as long as the model is wide.
  const SizeExplanation explanation =
      explain_sizes({{"hidden", 3584}}, std::vector{seen(5, 3584, 5ull * 3584 * 3584 * 2)}, kHost);
  const std::set<std::string> texts = texts_of(explanation);
  EXPECT_TRUE(texts.contains("batch x length x hidden x 2 B"));
  EXPECT_TRUE(texts.contains("batch x length^2 x 2 B"));
  EXPECT_GE(explanation.classes.size(), 2U);
}

TEST(SizeExplainerTest, NamesOfOneNumberAreOneClass) {
  const std::vector<Dimension> model = {{"heads", 28}, {"layers", 28}};
  const std::vector<AskedSizes> seen_twice = {seen(5, 1001, 5ull * 1001 * 28 * 2), seen(7, 701, 7ull * 701 * 28 * 2)};
  const SizeExplanation explanation = explain_sizes(model, seen_twice, kHost);
  ASSERT_EQ(explanation.classes.size(), 1U);
  EXPECT_EQ(explanation.classes[0].others.size(), 1U);
  EXPECT_EQ(texts_of(explanation),
            (std::set<std::string>{"batch x length x heads x 2 B", "batch x length x layers x 2 B"}));
}

// What the trace of a step gives: many requests, one of which is the one that grew.
TEST(SizeExplainerTest, OneOfAStepsRequestsIsEnough) {
  const std::vector<AskedSizes> steps = {
      {{{"batch", 3}, {std::string(kLength), 9001}}, {3ull * 9001 * 151936 * 4}, 0, 0, 7},
      {{{"batch", 5}, {std::string(kLength), 701}}, {1234567, 5ull * 701 * 151936 * 4, 5ull * 701 * 3584 * 2}, 0, 0, 6},
      {{{"batch", 3}, {std::string(kLength), 1103}}, {3ull * 1103 * 151936 * 4, 7654321}, 0, 0, 5}};
  const SizeExplanation explanation = explain_sizes(kModel, steps, kHost);
  ASSERT_EQ(explanation.classes.size(), 1U);
  EXPECT_EQ(explanation.classes[0].formula.text(), "batch x length x vocabulary x 4 B");
}

TEST(SizeExplainerTest, PackedTokensAreADimensionOfTheirOwn) {
  const auto packed = [](std::uint64_t tokens) {
    return AskedSizes{
        {{"batch", 4}, {std::string(kLength), 2048}, {std::string(kTokens), tokens}}, {tokens * 3584 * 2}, 0, 0, 0};
  };
  const SizeExplanation explanation = explain_sizes(kModel, std::vector{packed(5003), packed(6007)}, kHost);
  ASSERT_FALSE(explanation.classes.empty());
  EXPECT_TRUE(texts_of(explanation).contains("tokens x hidden x 2 B"));
}

TEST(SizeFormulaTest, RoundsAsTheCachingAllocatorDoes) {
  EXPECT_EQ(rounded(1000, SizeRounding::kNone), 1000U);
  EXPECT_EQ(rounded(1000, SizeRounding::kBlock), 1024U);
  EXPECT_EQ(rounded(1000, SizeRounding::kSegment), 2U << 20);
  EXPECT_EQ(rounded(3 << 20, SizeRounding::kSegment), 20U << 20);
  EXPECT_EQ(rounded((11 << 20) + 1, SizeRounding::kSegment), 12U << 20);
  EXPECT_EQ(rounded(~std::uint64_t{0}, SizeRounding::kBlock), ~std::uint64_t{0});
}

TEST(SizeFormulaTest, GivesTheSizeOfAnotherRow) {
  const Formula formula{{{"batch", 1}, {std::string(kLength), 2}}, 1, 2, SizeRounding::kNone};
  EXPECT_EQ(formula.bytes_at({{"batch", 4}, {"length", 1024}}), 8388608U);
  EXPECT_EQ(formula.bytes_at({{"batch", 4}}), std::nullopt);
  EXPECT_EQ(formula.bytes_at({{"batch", ~std::uint64_t{0}}, {"length", 3}}), std::nullopt);
  EXPECT_EQ(formula.text_with({{"batch", 4}, {"length", 1024}}), "4 x 1024^2 x 2 B");
}

}  // namespace
}  // namespace plumbline::checks
