#include "checks/token_rows.hpp"

#include <gtest/gtest.h>

#include "checks/testing/fake_rank.hpp"
#include "checks/testing/row_job.hpp"

namespace plumbline::checks {
namespace {

using reader::testing::TempDir;
using testing::RowPass;

std::vector<std::vector<std::size_t>> places(const TokenRows& rows) {
  std::vector<std::vector<std::size_t>> all;
  for (const Document& one : documents_of(rows)) all.push_back({one.row, one.begin, one.end});
  return all;
}

using Places = std::vector<std::vector<std::size_t>>;

TEST(DocumentsTest, ARowIsOneWithoutItsPadding) {
  EXPECT_EQ(places({.batch = 2, .length = 3, .ids = {1, 2, 3, 4, 5, 6}, .mask = {}, .positions = {}}),
            (Places{{0, 0, 3}, {1, 0, 3}}));
  EXPECT_EQ(places({.batch = 2, .length = 3, .ids = {0, 1, 2, 3, 0, 0}, .mask = {0, 1, 1, 1, 0, 0}, .positions = {}}),
            (Places{{0, 1, 3}, {1, 0, 1}}));
  EXPECT_TRUE(places({.batch = 1, .length = 2, .ids = {0, 0}, .mask = {0, 0}, .positions = {}}).empty());
}

TEST(DocumentsTest, PositionsDivideARow) {
  EXPECT_EQ(places({.batch = 1, .length = 6, .ids = {1, 2, 3, 1, 4, 5}, .mask = {}, .positions = {0, 1, 2, 0, 1, 2}}),
            (Places{{0, 0, 3}, {0, 3, 6}}));
  // Padding that stands at position 0 throughout begins no document.
  EXPECT_EQ(places({.batch = 1, .length = 6, .ids = {1, 2, 3, 0, 0, 0}, .mask = {}, .positions = {0, 1, 2, 0, 0, 0}}),
            (Places{{0, 0, 6}}));
  // Padding on the left, which HuggingFace gives position 1.
  EXPECT_EQ(places({.batch = 1, .length = 4, .ids = {0, 0, 7, 8}, .mask = {0, 0, 1, 1}, .positions = {1, 1, 0, 1}}),
            (Places{{0, 2, 4}}));
}

class TokenRowsTest : public ::testing::Test {
 protected:
  reader::RunCaptures& captures(const std::vector<RowPass>& passes) {
    testing::write_rows(directory_.path(), passes);
    captures_ = std::move(*reader::RunCaptures::open(directory_.path()));
    return *captures_;
  }
  const TempDir directory_;
  std::optional<reader::RunCaptures> captures_;
};

TEST_F(TokenRowsTest, TakesWhatHasTheSameShape) {
  reader::RunCaptures& all = captures({{.rows = 2, .ids = {1, 5, 1, 6}, .mask = {1, 1, 1, 0}, .labels = {5, 1, 6, 2}}});
  CaptureLoader loader(all);
  const Capture* ids = all.find("input_ids", 0, "Model", 0);
  const auto rows = token_rows(loader, ids, captured_beside(all, "attention_mask", *ids), ids);
  ASSERT_TRUE(rows);
  EXPECT_EQ(rows->batch, 2u);
  EXPECT_EQ(rows->at(1, 1), 6);
  EXPECT_EQ(rows->mask, (std::vector<double>{1, 1, 1, 0}));
  const auto other = token_rows(loader, ids, captured_beside(all, "labels", *ids));
  ASSERT_TRUE(other);
  EXPECT_TRUE(other->mask.empty());
  // Labels are no rows.
  EXPECT_FALSE(token_rows(loader, captured_beside(all, "labels", *ids), nullptr));
  EXPECT_FALSE(token_rows(loader, nullptr, nullptr));
}

TEST_F(TokenRowsTest, GoesByMicroBatch) {
  reader::RunCaptures& all = captures({{.ids = {1, 2}}, {.ids = {1, 3}, .mask = {1, 0}, .micro = 1}});
  EXPECT_EQ(captured_beside(all, "attention_mask", *all.find("input_ids", 0, "Model", 0, 0)), nullptr);
  EXPECT_NE(captured_beside(all, "attention_mask", *all.find("input_ids", 0, "Model", 0, 1)), nullptr);
}

}  // namespace
}  // namespace plumbline::checks
