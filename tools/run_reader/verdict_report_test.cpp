#include "tools/run_reader/verdict_report.hpp"

#include <gtest/gtest.h>

#include "tools/run_reader/text.hpp"

namespace plumbline::tools {
namespace {

using checks::Finding;
using checks::Status;
using checks::Verdict;

Verdict with_finding(Status status, const std::string& title) {
  Verdict verdict;
  verdict.check = "hang";
  verdict.status = status;
  verdict.reason = "a reason";
  Finding finding;
  finding.status = status;
  finding.title = title;
  finding.ranks = {1};
  finding.details = {"rank 1 did last: nothing"};
  finding.unknown = {"why"};
  finding.evidence.push_back({"rank1.plt", 1, 7, 40'000'000, 12, 512, "all_reduce #3"});
  verdict.findings.push_back(finding);
  return verdict;
}

Verdict without_finding(Status status, const std::string& check) {
  Verdict verdict;
  verdict.check = check;
  verdict.status = status;
  verdict.reason = "a reason";
  return verdict;
}

TEST(VerdictReportTest, FindingsComeBeforeWhatIsFine) {
  EXPECT_EQ(verdicts_text({without_finding(Status::kPass, "crash"), with_finding(Status::kFail, "rank 1 is gone")},
                          Style(false)),
            "FAIL  rank 1 is gone\n"
            "      rank 1 did last: nothing\n"
            "      not known: why\n"
            "ok    crash: a reason\n");
}

TEST(VerdictReportTest, OpenAndUnevaluatedAreNotOk) {
  EXPECT_EQ(verdicts_text({without_finding(Status::kInconclusive, "a"), without_finding(Status::kNotEvaluated, "b")},
                          Style(false)),
            "OPEN  a: a reason\n"
            "-     b: a reason\n");
}

// What a verdict says may hold names of a trace, and those anything.
TEST(VerdictReportTest, ControlCharactersDoNotReachTheTerminal) {
  Verdict fine = without_finding(Status::kPass, "a");
  fine.reason = "a \x1b[2J reason";
  fine.unknown = {"of \x1b[31m"};
  Verdict found = with_finding(Status::kFail, "\x1b[31m is gone");
  found.findings[0].details = {"\x9b"};
  EXPECT_EQ(verdicts_text({fine, found}, Style(false)).find_first_of("\x1b\x9b"), std::string::npos);
}

TEST(VerdictReportTest, LongTitlesStayWithinTheColumns) {
  std::string title;
  for (int word = 0; word < 50; ++word) title += "seven77 ";
  const std::string text = verdicts_text({with_finding(Status::kFail, title)}, Style(false));
  for (std::size_t start = 0; start < text.size();) {
    const std::size_t end = text.find('\n', start);
    EXPECT_LE(end - start, kColumns);
    start = end + 1;
  }
}

TEST(VerdictReportTest, ColoursOnATerminalOnly) {
  const std::vector<Verdict> verdicts = {with_finding(Status::kFail, "x")};
  EXPECT_EQ(verdicts_text(verdicts, Style(false)).find('\x1b'), std::string::npos);
  EXPECT_NE(verdicts_text(verdicts, Style(true)).find("\x1b[1;31mFAIL\x1b[0m"), std::string::npos);
}

TEST(VerdictReportTest, AFloodOfFindingsIsCutAndCounted) {
  Verdict verdict = with_finding(Status::kFail, "one of many");
  for (int more = 0; more < 19; ++more) verdict.findings.push_back(verdict.findings[0]);
  EXPECT_NE(verdicts_text({verdict}, Style(false)).find("and 12 more findings"), std::string::npos);
  EXPECT_EQ(verdicts_json({verdict})[0]["findings"].size(), 20U);
}

TEST(VerdictReportTest, JsonHoldsTheEvidence) {
  const Json json = verdicts_json({with_finding(Status::kFail, "rank 1 is gone")});
  EXPECT_EQ(json[0]["status"], "fail");
  const Json& evidence = json[0]["findings"][0]["evidence"][0];
  EXPECT_EQ(evidence["trace"], "rank1.plt");
  EXPECT_EQ(evidence["record"], 12);
  EXPECT_EQ(evidence["frame_offset"], 512);
  EXPECT_EQ(evidence["t"], 0.04);
}

TEST(VerdictReportTest, ExitStatuses) {
  const Verdict fine = without_finding(Status::kPass, "a");
  const Verdict open = without_finding(Status::kInconclusive, "b");
  const Verdict unseen = without_finding(Status::kNotEvaluated, "c");
  const Verdict failed = with_finding(Status::kFail, "d");
  EXPECT_EQ(exit_code_of({fine, unseen}, false), 0);
  EXPECT_EQ(exit_code_of({fine}, true), 3);
  EXPECT_EQ(exit_code_of({fine, open}, false), 3);
  EXPECT_EQ(exit_code_of({open, failed}, true), 1);
}

}  // namespace
}  // namespace plumbline::tools
