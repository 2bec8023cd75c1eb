// The JSON of every command: it parses, names its schema, and agrees with what was recorded.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/run_reader/said.hpp"
#include "tests/run_reader/scenes.hpp"

#include "checks/check.hpp"
#include "checks/testing/fake_rank.hpp"

namespace plumbline::tests {
namespace {

using nlohmann::json;
using reader::testing::TempDir;

json report(std::string_view scene, const std::string& command, int status) {
  const TempDir directory;
  for (const Scene& one : scenes()) {
    if (one.name == scene) one.write(directory.path());
  }
  const Said said = run({command, directory.path(), "--json"});
  EXPECT_EQ(said.status, status) << command;
  const json document = said.json();
  EXPECT_FALSE(document.is_discarded()) << said.out;
  EXPECT_EQ(document["schema"], "plumbline." + command + ".1");
  EXPECT_EQ(document["run"], directory.path());
  return document;
}

TEST(JsonReportTest, EveryCommandOfEverySceneParses) {
  for (const Scene& scene : scenes()) {
    const TempDir directory;
    scene.write(directory.path());
    for (const char* command : {"summary", "ranks", "collectives", "allocations", "optimizer", "ranges", "verify"}) {
      const Said said = run({command, directory.path(), "--json"});
      EXPECT_FALSE(said.json().is_discarded()) << scene.name << " " << command;
      EXPECT_EQ(said.json()["schema"], std::string("plumbline.") + command + ".1");
    }
  }
}

TEST(JsonReportTest, TextAndJsonExitAlike) {
  for (const Scene& scene : scenes()) {
    const TempDir directory;
    scene.write(directory.path());
    for (const char* command : {"summary", "collectives", "allocations", "verify"}) {
      EXPECT_EQ(run({command, directory.path()}).status, run({command, directory.path(), "--json"}).status)
          << scene.name << " " << command;
    }
  }
}

TEST(JsonReportTest, SummaryCountsWhatWasRecorded) {
  const json summary = report("healthy", "summary", 0);
  EXPECT_EQ(summary["facts"]["processes"], 2);
  EXPECT_EQ(summary["facts"]["world_size"], 2);
  EXPECT_EQ(summary["facts"]["logical_steps"], 3);
  EXPECT_DOUBLE_EQ(summary["facts"]["median_step_s"].get<double>(), 0.1);
  EXPECT_EQ(summary["facts"]["versions"]["torch"], "2.11.0");
  EXPECT_EQ(summary["data_lost"], false);
  ASSERT_EQ(summary["collectives"].size(), 2U);
  const json& reduce = summary["collectives"][0];
  EXPECT_EQ(reduce["op"], "all_reduce");
  EXPECT_EQ(reduce["description"], "default_pg");
  EXPECT_EQ(reduce["calls"], 6);
  EXPECT_EQ(reduce["calls_least"], 3);
  EXPECT_EQ(reduce["bytes_in"], 6 * 82624 * 4);
  EXPECT_EQ(reduce["completed"], 6);
  EXPECT_EQ(reduce["pending"], 0);
  ASSERT_EQ(summary["allocations"].size(), 2U);
  EXPECT_EQ(summary["allocations"][0]["allocations"], 3);
  EXPECT_EQ(summary["allocations"][0]["peak_bytes"], 2 << 20);
  EXPECT_EQ(summary["allocations"][0]["live_bytes"], 0);
  EXPECT_EQ(summary["allocations"][0]["resident_peak_bytes"], 600 << 20);
  ASSERT_EQ(summary["optimizers"].size(), 1U);
  EXPECT_EQ(summary["optimizers"][0]["name"], "AdamW");
  EXPECT_EQ(summary["optimizers"][0]["count"], 6);
  ASSERT_EQ(summary["ranges"].size(), 1U);
  EXPECT_EQ(summary["ranges"][0]["count"], 6);
}

TEST(JsonReportTest, AVerdictOfEveryCheckThatNeedsNoCapturedTensors) {
  const json verdicts = report("left_early", "summary", 1)["verdicts"];
  const auto checks = checks::all_checks();
  ASSERT_EQ(verdicts.size(),
            std::count_if(checks.begin(), checks.end(), [](const checks::Check& check) { return !check.of_captures; }));
  EXPECT_EQ(verdicts[0]["check"], "hang");
  EXPECT_EQ(verdicts[0]["status"], "fail");
  EXPECT_EQ(verdicts[0]["findings"][0]["ranks"], json::array({1}));
  EXPECT_EQ(verdicts[1]["status"], "pass");
}

TEST(JsonReportTest, OpenCallsAreListed) {
  const json open = report("left_early", "collectives", 1)["open"];
  ASSERT_EQ(open.size(), 1U);
  EXPECT_EQ(open[0]["rank"], 0);
  EXPECT_EQ(open[0]["op"], "all_reduce");
  EXPECT_EQ(open[0]["seq"], 2);
  EXPECT_EQ(open[0]["step"], 2);
  EXPECT_EQ(open[0]["in_wait"], true);
}

TEST(JsonReportTest, RanksTellTheirEndAndTheirFacts) {
  const json ranks = report("mismatch", "ranks", 0)["ranks"];
  ASSERT_EQ(ranks.size(), 2U);
  EXPECT_EQ(ranks[0]["ending"], "failed");
  EXPECT_EQ(ranks[0]["exit"]["exception_class"], "RuntimeError");
  EXPECT_EQ(ranks[1]["ending"], "signal");
  EXPECT_EQ(ranks[1]["exit"]["signal"], 6);
  EXPECT_EQ(ranks[0]["facts"]["python.version"], "3.12.1");
  EXPECT_EQ(ranks[0]["rank_confirmed"], true);
}

TEST(JsonReportTest, FailedRequestsAreCounted) {
  const json allocations = report("out_of_memory", "allocations", 1);
  EXPECT_EQ(allocations["verdicts"][0]["status"], "fail");
  bool found = false;
  for (const json& row : allocations["allocations"]) {
    if (row["source"] != "caching_block") continue;
    found = true;
    EXPECT_EQ(row["device"], 0);
    EXPECT_EQ(row["failures"], 1);
    EXPECT_EQ(row["largest_failed_bytes"], std::uint64_t{20} << 30);
  }
  EXPECT_TRUE(found);
}

TEST(JsonReportTest, ParamGroupsShowTheirFirstAndLastSettings) {
  const TempDir directory;
  {
    checks::testing::FakeRank rank(directory.path(), 0, 1);
    for (int step = 0; step < 5; ++step) rank.step(10 * step + 1, 10 * step + 2, 1e-3 * (5 - step));
    rank.exit(0);
  }
  const json groups = run({"optimizer", directory.path(), "--json"}).json()["param_groups"];
  ASSERT_EQ(groups.size(), 1U);
  EXPECT_EQ(groups[0]["steps"], 5);
  EXPECT_DOUBLE_EQ(groups[0]["first"]["lr"].get<double>(), 5e-3);
  EXPECT_DOUBLE_EQ(groups[0]["last"]["lr"].get<double>(), 1e-3);
  EXPECT_TRUE(groups[0]["last"]["momentum"].is_null());
}

TEST(JsonReportTest, WhatIsNotCoveredIsListedWithItsRanks) {
  const json gaps = report("uncovered", "summary", 3)["not_covered"];
  ASSERT_GE(gaps.size(), 3U);
  EXPECT_NE(gaps[0]["what"].get<std::string>().find("plumbline build-adapter"), std::string::npos);
  EXPECT_EQ(gaps[0]["ranks"], json::array({0, 1}));
}

}  // namespace
}  // namespace plumbline::tests
