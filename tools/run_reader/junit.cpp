#include "tools/run_reader/junit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <ostream>

#include "tools/run_reader/output_file.hpp"
#include "tools/run_reader/text.hpp"

namespace plumbline::tools {
namespace {

using checks::Finding;
using checks::Status;
using checks::Verdict;

// Text of an XML document: what XML cannot hold at all was made printable before.
std::string escaped(std::string_view text) {
  std::string out;
  for (const char letter : printable(text)) {
    switch (letter) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += letter;
    }
  }
  return out;
}

std::string finding_lines(const Finding& finding) {
  std::string text = escaped(finding.title) + '\n';
  for (const std::string& detail : finding.details) text += "  " + escaped(detail) + '\n';
  for (const std::string& unknown : finding.unknown) text += "  not known: " + escaped(unknown) + '\n';
  if (!finding.next.empty()) text += "  next: " + escaped(finding.next) + '\n';
  return text;
}

std::string case_text(const Verdict& verdict) {
  const std::string open = fmt::format("    <testcase classname=\"plumbline\" name=\"{}\"", escaped(verdict.check));
  if (verdict.status == Status::kPass) return open + "/>\n";
  if (verdict.status == Status::kNotEvaluated) {
    return fmt::format("{}>\n      <skipped message=\"{}\"/>\n    </testcase>\n", open, escaped(verdict.reason));
  }
  const std::string_view kind = verdict.status == Status::kFail ? "failure" : "error";
  std::string lines;
  for (const Finding& finding : verdict.findings) lines += finding_lines(finding);
  const std::string& message = verdict.findings.empty() ? verdict.reason : verdict.findings.front().title;
  return fmt::format("{}>\n      <{} type=\"{}\" message=\"{}\">{}</{}>\n    </testcase>\n", open, kind,
                     name_of(verdict.status), escaped(message), lines, kind);
}

std::size_t count(std::span<const Verdict> verdicts, Status status) {
  return static_cast<std::size_t>(
      std::count_if(verdicts.begin(), verdicts.end(), [&](const Verdict& one) { return one.status == status; }));
}

}  // namespace

std::string junit_text(std::string_view suite, std::span<const Verdict> verdicts) {
  std::string text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n";
  text += fmt::format("  <testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\">\n",
                      escaped(suite), verdicts.size(), count(verdicts, Status::kFail),
                      count(verdicts, Status::kInconclusive), count(verdicts, Status::kNotEvaluated));
  for (const Verdict& verdict : verdicts) text += case_text(verdict);
  return text + "  </testsuite>\n</testsuites>\n";
}

bool write_junit(const std::string& path, std::string_view suite, std::span<const Verdict> verdicts,
                 std::ostream& err) {
  if (path.empty()) return true;
  return write_file(
      path, [&](std::ostream& out) { out << junit_text(suite, verdicts); }, err);
}

}  // namespace plumbline::tools
