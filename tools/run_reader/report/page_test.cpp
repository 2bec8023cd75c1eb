#include "tools/run_reader/report/page.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <sstream>

#include "checks/testing/fake_rank.hpp"
#include "reader/testing/records.hpp"
#include "tools/run_reader/report/incident.hpp"
#include "tools/run_reader/report/wavefront.hpp"
#include "tools/run_reader/verdict_report.hpp"

namespace plumbline::tools {
namespace {

using checks::testing::FakeRank;
using reader::Op;

class ReportPage : public ::testing::Test {
 protected:
  // Six steps on two ranks; in the seventh rank 1 is away and rank 0 waits for it.
  void hang() {
    for (const int number : {0, 1}) {
      FakeRank rank(directory_.path(), number, 2);
      const auto world = rank.group("0", "default_pg", "0,1");
      for (int step = 0; step < 6; ++step) {
        rank.alloc(10 * step + 1, 0x1000, 1 << 20);
        rank.whole_call(10 * step + 2, 10 * step + 4, world, Op::kAllReduce, {});
        rank.step(10 * step + 5, 10 * step + 7);
        rank.free(10 * step + 8, 0x1000);
      }
      if (number == 0) rank.call(62, world, Op::kAllReduce);
      if (number == 1) rank.open_range(61, "evaluate <validation>");
      if (number == 0) rank.fail(63, 48ull << 30);
      rank.resident(20'000, 1 << 20);
      rank.killed();
    }
  }
  void healthy() {
    for (const int number : {0, 1}) {
      FakeRank rank(directory_.path(), number, 2);
      const auto world = rank.group("0", "default_pg", "0,1");
      for (int step = 0; step < 6; ++step) {
        rank.whole_call(10 * step + 2, 10 * step + 4, world, Op::kAllReduce, {});
        rank.step(10 * step + 5, 10 * step + 7);
      }
      rank.exit(0);
    }
  }

  template <class Use>
  void with_run(Use&& use) {
    const auto run = reader::Run::open(directory_.path());
    ASSERT_TRUE(run.ok());
    const checks::Subject subject(*run);
    const Options options;
    std::ostringstream out;
    use(Context{options, *run, subject, out, out});
  }

  reader::testing::TempDir directory_;
};

bool holds(const std::string& page, std::string_view part) { return page.find(part) != std::string::npos; }

TEST_F(ReportPage, AHangIsOnItWithItsLanesAndItsWavefront) {
  hang();
  with_run([](const Context& context) {
    const std::string page = report_page(context, evaluate_all(context.subject));
    EXPECT_TRUE(holds(page, "class=\"verdict fail\""));
    EXPECT_TRUE(holds(page, "all_reduce #6"));
    EXPECT_TRUE(holds(page, "class=\"call open\""));
    EXPECT_TRUE(holds(page, "class=\"range open\""));
    EXPECT_TRUE(holds(page, "tr class=\"uneven\""));
    EXPECT_TRUE(holds(page, "a request for 48.0 GiB"));
    EXPECT_TRUE(holds(page, "evaluate &lt;validation&gt;"));
    EXPECT_FALSE(holds(page, "<validation>"));
  });
}

TEST_F(ReportPage, ItNeedsNothingFromElsewhere) {
  healthy();
  with_run([](const Context& context) {
    const std::string page = report_page(context, evaluate_all(context.subject));
    EXPECT_FALSE(holds(page, "http"));
    EXPECT_FALSE(holds(page, "<script"));
    EXPECT_FALSE(holds(page, "class=\"verdict fail\""));
    EXPECT_FALSE(holds(page, "call open"));
    EXPECT_TRUE(holds(page, "time of each logical step"));
    EXPECT_TRUE(page.ends_with("</body></html>\n"));
  });
}

TEST_F(ReportPage, TheIncidentIsThatOfTheFirstFindingAndItsRanksComeFirst) {
  hang();
  with_run([](const Context& context) {
    const auto verdicts = evaluate_all(context.subject);
    const Incident incident = incident_of(context, verdicts);
    EXPECT_LT(incident.from_s, 0.062);
    EXPECT_GT(incident.to_s, 0.062);
    EXPECT_LT(incident.to_s, 1.0);
    EXPECT_EQ(incident.ranks.size(), 2U);
    for (const checks::Verdict& verdict : verdicts) {
      for (const checks::Finding& finding : verdict.findings) {
        if (finding.status != checks::Status::kFail || finding.ranks.empty()) continue;
        EXPECT_EQ(incident.ranks[0], finding.ranks[0]);
        return;
      }
    }
    FAIL() << "nothing was found";
  });
}

TEST_F(ReportPage, TheWavefrontTellsWhoIsBehind) {
  hang();
  with_run([](const Context& context) {
    const auto groups = group_fronts(context);
    ASSERT_EQ(groups.size(), 1U);
    EXPECT_FALSE(groups[0].level());
    ASSERT_EQ(groups[0].fronts.size(), 2U);
    EXPECT_EQ(groups[0].fronts[0].called, 6);
    EXPECT_EQ(groups[0].fronts[0].completed, 5);
    EXPECT_EQ(groups[0].fronts[1].called, 5);
  });
}

TEST_F(ReportPage, LevelGroupsAreOneRow) {
  healthy();
  with_run([](const Context& context) {
    const auto groups = group_fronts(context);
    ASSERT_EQ(groups.size(), 1U);
    EXPECT_TRUE(groups[0].level());
    EXPECT_FALSE(holds(wavefront_html(groups), "uneven"));
  });
}

}  // namespace
}  // namespace plumbline::tools
