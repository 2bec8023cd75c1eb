#include "checks/straggler_steps.hpp"

#include <gtest/gtest.h>

namespace plumbline::checks {
namespace {

constexpr std::int64_t kMs = 1'000'000;

// Calls of two ranks in one group; `late` made the others lose that long.
class Calls {
 public:
  explicit Calls(StepBook& book) : book_(book) {}

  void add(std::int64_t step, std::size_t late, std::int64_t lost_ms, std::uint64_t site = 7,
           std::vector<std::uint64_t> elements = {8, 8}) {
    reader::Collective call;
    call.op = reader::Op::kAllReduce;
    call.seq = ++seq_;
    call.site = site;
    std::vector<Arrival> arrivals(elements.size());
    for (std::size_t trace = 0; trace < elements.size(); ++trace) {
      arrivals[trace].trace = trace;
      arrivals[trace].elements = elements[trace];
    }
    Lateness lateness;
    lateness.step = step;
    lateness.late = late;
    lateness.lost = lost_ms * kMs;
    lateness.call = &call;
    lateness.arrivals = arrivals;
    book_.add(lateness);
  }

 private:
  StepBook& book_;
  std::uint64_t seq_ = 0;
};

TEST(StepBookTest, AStepIsLaidToTheRankThatCostMost) {
  StepBook book(2, 0, 9, 2 * kMs);
  Calls calls(book);
  calls.add(0, 0, 10);
  calls.add(0, 1, 25);
  calls.add(0, 0, 20);
  calls.add(1, 1, 5);
  book.finish();
  ASSERT_EQ(book.steps().size(), 2U);
  EXPECT_EQ(book.steps()[0].late, 0U);
  EXPECT_EQ(book.steps()[0].lost, 30 * kMs);
  EXPECT_EQ(book.steps()[0].all_lost, 55 * kMs);
  EXPECT_EQ(book.steps()[0].worst.lost, 20 * kMs);
  EXPECT_EQ(book.steps()[0].worst.seq, 3U);
  EXPECT_EQ(book.steps()[1].late, 1U);
}

TEST(StepBookTest, LossesBelowTheLeastMakeNoLateStep) {
  StepBook book(2, 0, 9, 2 * kMs);
  Calls calls(book);
  calls.add(0, 1, 1);
  calls.add(1, 1, 2);
  calls.add(2, 1, 40);
  book.finish();
  EXPECT_EQ(book.ranks()[1].steps_late, 2);
  EXPECT_EQ(book.ranks()[1].lost, 43 * kMs);
  EXPECT_EQ(book.ranks()[0].lost, 0);
}

TEST(StepBookTest, OnlyTheStepsThatWereAskedForCount) {
  StepBook book(2, 3, 4, 0);
  Calls calls(book);
  for (std::int64_t step = 0; step < 8; ++step) calls.add(step, 0, 10);
  book.finish();
  ASSERT_EQ(book.steps().size(), 2U);
  EXPECT_EQ(book.steps().front().step, 3);
  EXPECT_EQ(book.steps().back().step, 4);
}

TEST(StepBookTest, LateComersToAClosedStepGoToTheOldestThatIsOpen) {
  StepBook book(2, 0, 100, 0);
  Calls calls(book);
  for (std::int64_t step = 0; step < 12; ++step) calls.add(step, 0, 1);
  calls.add(0, 1, 50);
  book.finish();
  EXPECT_EQ(book.steps()[0].all_lost, kMs);
  std::int64_t all = 0;
  for (const LateStep& step : book.steps()) all += step.all_lost;
  EXPECT_EQ(all, 62 * kMs);
  for (std::size_t index = 1; index < book.steps().size(); ++index)
    EXPECT_LT(book.steps()[index - 1].step, book.steps()[index].step);
}

TEST(StepBookTest, UnevenAmountsTellWhoHadMostToDo) {
  StepBook book(2, 0, 9, 0);
  Calls calls(book);
  calls.add(0, 1, 30, 7, {100, 150});
  calls.add(0, 0, 4);
  calls.add(1, 1, 30);
  book.finish();
  EXPECT_EQ(book.steps()[0].busiest, 1U);
  EXPECT_DOUBLE_EQ(book.steps()[0].excess, 0.5);
  EXPECT_EQ(book.steps()[0].lost_by_busiest, 30 * kMs);
  EXPECT_DOUBLE_EQ(book.steps()[1].excess, 0) << "the same on all";
}

TEST(StepBookTest, PlacesAreToldByLineTheWorstFirst) {
  StepBook book(2, 0, 9, 0);
  Calls calls(book);
  calls.add(0, 1, 10, 7);
  calls.add(1, 1, 10, 7);
  calls.add(2, 1, 50, 8);
  calls.add(3, 0, 99, 9);
  book.finish();
  const auto places = book.places_of(1);
  ASSERT_EQ(places.size(), 2U);
  EXPECT_EQ(places[0].site, 8U);
  EXPECT_EQ(places[1].lost, 20 * kMs);
  EXPECT_EQ(places[1].calls, 2);
}

}  // namespace
}  // namespace plumbline::checks
