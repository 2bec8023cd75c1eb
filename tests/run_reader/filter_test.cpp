// The filters of `events` and `dump`: what passes, and that nothing else does.
#include <gtest/gtest.h>

#include <map>

#include "checks/testing/fake_rank.hpp"
#include "tests/run_reader/said.hpp"

namespace plumbline::tests {
namespace {

using checks::testing::FakeRank;
using checks::testing::Op;
using nlohmann::json;
using reader::testing::TempDir;

// Two ranks, ten steps of 100 ms: at each an allocation, a collective, an optimizer step. Rank 1 is 1 ms behind.
class FilterTest : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const int number : {0, 1}) {
      FakeRank rank(directory_.path(), number, 2);
      const auto world = rank.group("0", "default_pg", "0,1");
      for (int step = 0; step < 10; ++step) {
        const double ms = 100.0 * step + number;
        rank.alloc(ms + 10, 0x1000, 4096);
        rank.free(ms + 20, 0x1000);
        rank.whole_call(ms + 30, ms + 40, world, Op::kAllReduce);
        rank.step(ms + 50, ms + 60);
        if (step == 4) rank.trace().flush();
      }
      rank.exit(0);
    }
  }

  // Events of `events --json` under filters.
  std::vector<json> events(std::vector<std::string> filters) const {
    std::vector<std::string> arguments = {"events", directory_.path(), "--json", "--limit", "0"};
    arguments.insert(arguments.end(), filters.begin(), filters.end());
    const Said said = run(arguments);
    EXPECT_EQ(said.status, 0) << said.err;
    std::vector<json> all = said.json_lines();
    EXPECT_FALSE(all.empty());
    if (!all.empty()) {
      EXPECT_EQ(all.front()["schema"], "plumbline.events.1");
      all.erase(all.begin());
    }
    return all;
  }

  TempDir directory_;
};

TEST_F(FilterTest, WithoutFiltersEverythingComesInTheOrderOfTime) {
  const auto all = events({});
  EXPECT_EQ(all.size(), 2U * 10 * 7);
  for (std::size_t at = 1; at < all.size(); ++at) EXPECT_GE(all[at]["t"], all[at - 1]["t"]);
}

TEST_F(FilterTest, Rank) {
  const auto all = events({"--rank", "1"});
  EXPECT_EQ(all.size(), 70U);
  for (const json& event : all) EXPECT_EQ(event["rank"], 1);
  EXPECT_TRUE(events({"--rank", "2"}).empty());
  EXPECT_EQ(events({"--rank", "0,1"}).size(), 140U);
}

TEST_F(FilterTest, Kind) {
  std::map<std::string, int> kinds;
  for (const json& event : events({"--kind", "collective,collective_end", "--kind", "alloc"})) {
    ++kinds[event["kind"].get<std::string>()];
  }
  EXPECT_EQ(kinds, (std::map<std::string, int>{{"alloc", 20}, {"collective", 20}, {"collective_end", 20}}));
}

TEST_F(FilterTest, ThreeStepsHaveAllTheirEvents) {
  const auto all = events({"--step", "3-5", "--rank", "0"});
  EXPECT_EQ(all.size(), 21U);
  for (const json& event : all) {
    EXPECT_GE(event["step"], 3);
    EXPECT_LE(event["step"], 5);
  }
}

TEST_F(FilterTest, AStepReachesToTheEndOfItsOptimizerStep) {
  const auto all = events({"--step", "2", "--rank", "0"});
  ASSERT_FALSE(all.empty());
  EXPECT_EQ(all.front()["kind"], "alloc");
  EXPECT_EQ(all.back()["kind"], "step_end");
}

TEST_F(FilterTest, StepsThatAreNotThereAreNothing) { EXPECT_TRUE(events({"--step", "50-60"}).empty()); }

TEST_F(FilterTest, Time) {
  const auto all = events({"--from", "0.205", "--to", "0.235"});
  ASSERT_EQ(all.size(), 6U);
  for (const json& event : all) {
    EXPECT_GE(event["t"], 0.205);
    EXPECT_LE(event["t"], 0.235);
  }
}

TEST_F(FilterTest, FiltersJoin) {
  const auto all = events({"--rank", "1", "--kind", "alloc", "--from", "0.3", "--step", "0-4"});
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0]["step"], 3);
  EXPECT_EQ(all[1]["step"], 4);
}

TEST_F(FilterTest, LimitStopsAndSaysSo) {
  const Said said = run({"events", directory_.path(), "--limit", "5"});
  const auto lines = said.lines();
  ASSERT_EQ(lines.size(), 7U) << "a title, five events, a word";
  EXPECT_EQ(lines.back(), "the first 5 events; --limit 0 shows all that pass");
}

TEST_F(FilterTest, NothingIsSaidToBeNothing) {
  EXPECT_EQ(run({"events", directory_.path(), "--rank", "7"}).out, "no event passes these filters\n");
}

TEST_F(FilterTest, DumpHoldsEveryEventOnceAndTheDefinitions) {
  const Said said = run({"dump", directory_.path()});
  EXPECT_EQ(said.status, 0);
  std::map<std::string, int> records;
  for (const json& line : said.json_lines()) {
    ASSERT_FALSE(line.is_discarded());
    ++records[line["record"].get<std::string>()];
  }
  EXPECT_EQ(records["dump"], 1);
  EXPECT_EQ(records["process"], 2);
  EXPECT_EQ(records["group"], 2);
  EXPECT_EQ(records["thread"], 2);
  EXPECT_EQ(records["event"], 140);
  EXPECT_EQ(records["exit"], 2);
}

TEST_F(FilterTest, DumpOfAKindIsEventsAlone) {
  for (const json& line : run({"dump", directory_.path(), "--kind", "step_group"}).json_lines()) {
    EXPECT_TRUE(line["record"] == "dump" || line["record"] == "event") << line;
    if (line["record"] == "event") {
      EXPECT_EQ(line["lr"], 0.001);
      EXPECT_TRUE(line["momentum"].is_null());
    }
  }
}

TEST_F(FilterTest, OneTraceFileIsARunToo) {
  for (const auto& entry : std::filesystem::directory_iterator(directory_.path())) {
    if (entry.path().filename().string().find("rank1") == std::string::npos) continue;
    const Said said = run({"events", entry.path().string(), "--json", "--limit", "0"});
    EXPECT_EQ(said.json_lines().size(), 71U);
  }
}

}  // namespace
}  // namespace plumbline::tests
