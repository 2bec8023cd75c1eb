#include "tools/run_reader/verdict_report.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "tools/run_reader/exit_code.hpp"
#include "tools/run_reader/text.hpp"

namespace plumbline::tools {
namespace {

using checks::Finding;
using checks::Status;
using checks::Verdict;

// A first screen: what is cut here is in the JSON.
constexpr std::size_t kMostFindings = 8;

bool has(const std::vector<Verdict>& verdicts, Status status) {
  return std::any_of(verdicts.begin(), verdicts.end(), [&](const Verdict& one) { return one.status == status; });
}

std::string finding_text(const Finding& finding, const Style& style) {
  const bool fails = finding.status == Status::kFail;
  // Wrapped as plain text: the codes of a colour take no columns.
  std::string title = wrapped("FAIL  " + printable(finding.title), kBulletIndent).substr(kBulletIndent);
  std::string text = fails ? style.red("FAIL") + "  " : style.yellow("OPEN") + "  ";
  text += style.bold(title) + '\n';
  for (const std::string& detail : finding.details) text += bullet(detail);
  for (const std::string& unknown : finding.unknown) text += bullet("not known: " + unknown);
  return text;
}

}  // namespace

std::vector<Verdict> evaluate_all(const checks::Subject& subject) {
  std::vector<Verdict> verdicts;
  for (const checks::Check& check : checks::all_checks()) {
    if (checks::applies(check, subject)) verdicts.push_back(evaluate(check, subject));
  }
  return verdicts;
}

std::string verdicts_text(const std::vector<Verdict>& verdicts, const Style& style) {
  std::string text;
  std::size_t shown = 0;
  std::size_t cut = 0;
  for (const Status wanted : {Status::kFail, Status::kInconclusive}) {
    for (const Verdict& verdict : verdicts) {
      for (const Finding& finding : verdict.findings) {
        if (finding.status != wanted) continue;
        if (shown == kMostFindings) {
          ++cut;
          continue;
        }
        text += finding_text(finding, style);
        ++shown;
      }
    }
  }
  if (cut > 0) text += fmt::format("      and {}: --json lists them\n", plural(cut, "more finding"));
  for (const Verdict& verdict : verdicts) {
    if (!verdict.findings.empty()) {
      for (const std::string& unknown : verdict.unknown) text += bullet("not known: " + unknown);
      continue;
    }
    std::string label = "ok    ";
    if (verdict.status == Status::kPass) label = style.green("ok") + "    ";
    if (verdict.status == Status::kInconclusive) label = style.yellow("OPEN") + "  ";
    if (verdict.status == Status::kNotEvaluated) label = "-     ";
    std::string words(kBulletIndent, ' ');
    words += verdict.check + ": " + printable(verdict.reason);
    text += label;
    text += wrapped(words, kBulletIndent).substr(kBulletIndent) + '\n';
    // What is not covered has a section of its own.
    if (verdict.check == "coverage") continue;
    for (const std::string& unknown : verdict.unknown) text += bullet("not known: " + unknown);
  }
  return text;
}

Json verdicts_json(const std::vector<Verdict>& verdicts) {
  Json json = Json::array();
  for (const Verdict& verdict : verdicts) {
    Json one = {{"check", verdict.check}, {"status", name_of(verdict.status)}, {"reason", verdict.reason}};
    one["findings"] = Json::array();
    for (const Finding& finding : verdict.findings) {
      Json entry = {{"status", name_of(finding.status)},
                    {"title", finding.title},
                    {"ranks", finding.ranks},
                    {"details", finding.details},
                    {"unknown", finding.unknown},
                    {"affected", finding.affected},
                    {"t", finding.time_ns < 0 ? Json(nullptr) : Json(static_cast<double>(finding.time_ns) / 1e9)},
                    {"group", finding.place.group},
                    {"group_ranks", finding.place.group_ranks},
                    {"seq", finding.place.seq},
                    {"operation", finding.place.operation},
                    {"component", finding.descent.component},
                    {"line", finding.descent.line},
                    {"next", finding.next}};
      entry["evidence"] = Json::array();
      for (const checks::Evidence& evidence : finding.evidence) {
        entry["evidence"].push_back({{"trace", evidence.trace},
                                     {"rank", evidence.rank},
                                     {"step", evidence.step},
                                     {"t", static_cast<double>(evidence.time_ns) / 1e9},
                                     {"record", evidence.record},
                                     {"frame_offset", evidence.frame_offset},
                                     {"shows", evidence.shows}});
      }
      one["findings"].push_back(std::move(entry));
    }
    one["unknown"] = verdict.unknown;
    json.push_back(std::move(one));
  }
  return json;
}

int exit_code_of(const std::vector<Verdict>& verdicts, bool data_lost) {
  if (has(verdicts, Status::kFail)) return kExitFindings;
  return data_lost || has(verdicts, Status::kInconclusive) ? kExitInconclusive : kExitFine;
}

}  // namespace plumbline::tools
