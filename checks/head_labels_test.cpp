#include "checks/head_labels.hpp"

#include <gtest/gtest.h>

#include "checks/testing/capture_job.hpp"
#include "reader/testing/records.hpp"

namespace plumbline::checks {
namespace {

using testing::bytes_of;
using testing::Dtype;
using Labels = std::vector<std::int64_t>;
using Flags = std::vector<bool>;

// A head's labels, and those that the model was given: in two rows, captured after (or before) the head's.
HeadRows rows_of(const Labels& head, const Labels& model, bool before = false) {
  const reader::testing::TempDir directory;
  testing::CaptureJob job(directory.path(), 0);
  const auto write_model = [&] {
    if (!model.empty()) job.tensor("labels", "Model", 0, Dtype::kInt64, {2, model.size() / 2}, bytes_of(model));
  };
  if (before) write_model();
  job.tensor("head.labels", "f", 0, Dtype::kInt64, {head.size()}, bytes_of(head));
  if (!before) write_model();
  job.finish();
  auto captures = reader::RunCaptures::open(directory.path());
  CaptureLoader loader(*captures);
  return head_rows(loader, *captures, *captures->find("head.labels", 0, "f", 0), -100);
}

TEST(HeadLabelsTest, TheHeadsOwnLabels) {
  const HeadRows rows = rows_of({1, -100, 3}, {});
  EXPECT_EQ(rows.labels, (std::vector<double>{1, -100, 3}));
  EXPECT_EQ(rows.supervised, (Flags{true, false, true}));
  EXPECT_EQ(rows.all, rows.labels);
}

TEST(HeadLabelsTest, PlacesThatTheModelsLabelsLeaveOut) {
  const HeadRows rows = rows_of({0, 2, 5, 0}, {9, -100, 2, 9, 5, -100});
  EXPECT_EQ(rows.supervised, (Flags{false, true, true, false}));
  EXPECT_EQ(rows.all, (std::vector<double>{-100, 2, 5, -100}));
}

TEST(HeadLabelsTest, LabelsThatAreShiftedAlready) {
  const HeadRows rows = rows_of({1, 0, 0, 4}, {1, -100, -100, 4});
  EXPECT_EQ(rows.supervised, (Flags{true, false, false, true}));
}

TEST(HeadLabelsTest, OnlyThoseThatCount) {
  const HeadRows rows = rows_of({2, 5}, {9, -100, 2, 9, 5, -100});
  EXPECT_EQ(rows.supervised, (Flags{true, true}));
  EXPECT_EQ(rows.all, (std::vector<double>{-100, 2, 5, -100}));
}

TEST(HeadLabelsTest, LabelsOfAnotherPassSayNothing) {
  EXPECT_EQ(rows_of({1, 0, 0, 4}, {7, 8, 9, -100}).supervised, (Flags{true, true, true, true}));
  EXPECT_EQ(rows_of({1, 0, 0, 4}, {1, -100, -100, 4}, true).supervised, (Flags{true, true, true, true}));
}

}  // namespace
}  // namespace plumbline::checks
