#include "tools/run_reader/diagnose_json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "tools/run_reader/text.hpp"
#include "tools/run_reader/verdict_report.hpp"

namespace plumbline::tools {
namespace {

using checks::Diagnosis;
using checks::Finding;
using checks::FindingRef;
using checks::Status;
using checks::Verdict;

Json ref_json(const Diagnosis& diagnosis, FindingRef ref) {
  return {{"check", diagnosis.verdicts[ref.verdict].check},
          {"finding", ref.finding},
          {"status", name_of(diagnosis.finding(ref).status)},
          {"title", diagnosis.finding(ref).title}};
}

Json refs_json(const Diagnosis& diagnosis, const std::vector<FindingRef>& refs, std::size_t from) {
  Json json = Json::array();
  for (std::size_t index = from; index < refs.size(); ++index) json.push_back(ref_json(diagnosis, refs[index]));
  return json;
}

Json root_json(const Diagnosis& diagnosis) {
  if (diagnosis.causes.empty()) return nullptr;
  Json json = ref_json(diagnosis, diagnosis.causes.front());
  const Finding& root = *diagnosis.root();
  json["ranks"] = root.ranks;
  json["descent"] = {{"run", root.descent.run},
                     {"rank", root.descent.rank},
                     {"component", root.descent.component},
                     {"operation", root.descent.operation},
                     {"line", root.descent.line}};
  json["next"] = root.next;
  return json;
}

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

std::size_t count(const Diagnosis& diagnosis, Status status) {
  return static_cast<std::size_t>(std::count_if(diagnosis.verdicts.begin(), diagnosis.verdicts.end(),
                                                [&](const Verdict& one) { return one.status == status; }));
}

}  // namespace

Json diagnosis_json(const Context& context, const Diagnosis& diagnosis, int exit_status) {
  Json json;
  json["schema"] = "plumbline.diagnose.1";
  json["run"] = context.run.path();
  json["exit_status"] = exit_status;
  json["root"] = root_json(diagnosis);
  json["consequences"] = refs_json(diagnosis, diagnosis.consequences, 0);
  Json also = refs_json(diagnosis, diagnosis.causes, 1);
  for (const FindingRef ref : diagnosis.others) also.push_back(ref_json(diagnosis, ref));
  json["also"] = std::move(also);
  json["verdicts"] = verdicts_json(diagnosis.verdicts);
  return json;
}

std::string diagnosis_junit(const Context& context, const Diagnosis& diagnosis) {
  std::string text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n";
  text += fmt::format("  <testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\">\n",
                      escaped(context.run.path()), diagnosis.verdicts.size(), count(diagnosis, Status::kFail),
                      count(diagnosis, Status::kInconclusive), count(diagnosis, Status::kNotEvaluated));
  for (const Verdict& verdict : diagnosis.verdicts) text += case_text(verdict);
  return text + "  </testsuite>\n</testsuites>\n";
}

}  // namespace plumbline::tools
