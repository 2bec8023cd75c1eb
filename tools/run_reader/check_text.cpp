#include "tools/run_reader/check_text.hpp"

#include <fmt/format.h>

#include <string_view>

#include "checks/check.hpp"
#include "checks/state_checks.hpp"
#include "tools/run_reader/text.hpp"

namespace plumbline::tools {
namespace {

using checks::Finding;
using checks::Status;
using checks::Verdict;

constexpr std::size_t kMostDetails = 6;

// "FAIL  export: what was found", wrapped; the label is coloured after, since codes take no columns.
std::string headline(std::string_view label, const std::string& text) {
  const std::string plain = fmt::format("{:<{}}{}", "", kBulletIndent, printable(text));
  return fmt::format("{}{}\n", label, wrapped(plain, kBulletIndent).substr(kBulletIndent));
}

std::string finding_text(const Verdict& verdict, const Finding& finding, const Style& style) {
  const std::string label = finding.status == Status::kFail ? style.red("FAIL") + "  " : style.yellow("OPEN") + "  ";
  std::string text = headline(label, verdict.check + ": " + finding.title);
  std::size_t shown = 0;
  for (const std::string& detail : finding.details) {
    if (detail == finding.title) continue;
    if (shown++ == kMostDetails) {
      text += bullet(fmt::format("and {} more: --json lists them", finding.details.size() - kMostDetails));
      break;
    }
    text += bullet(detail);
  }
  for (const std::string& unknown : finding.unknown) text += bullet("not known: " + unknown);
  if (!finding.next.empty()) text += bullet("next: " + finding.next);
  return text;
}

std::string verdict_text(const Verdict& verdict, const Style& style) {
  if (!verdict.findings.empty()) {
    std::string text;
    for (const Finding& finding : verdict.findings) text += finding_text(verdict, finding, style);
    return text;
  }
  std::string label = "-     ";
  if (verdict.status == Status::kPass) label = style.green("ok") + "    ";
  if (verdict.status == Status::kInconclusive) label = style.yellow("OPEN") + "  ";
  return headline(label, verdict.check + ": " + verdict.reason);
}

std::string entry(std::string_view name, std::string_view question, std::string_view needs) {
  constexpr std::size_t kColumn = 14;
  return wrapped(fmt::format("  {:<{}}{}?", name, kColumn - 2, question), kColumn) + '\n' +
         wrapped(fmt::format("{:<{}}needs {}", "", kColumn, needs), kColumn) + '\n';
}

}  // namespace

std::string check_text(std::span<const Verdict> verdicts, const Style& style) {
  std::string text;
  for (const Verdict& verdict : verdicts) {
    text += verdict_text(verdict, style);
    for (const std::string& unknown : verdict.unknown) text += bullet("not known: " + unknown);
  }
  return text;
}

std::string checks_list() {
  std::string text = "run-reader check NAME RUN, or run-reader check --all RUN, where NAME is\n";
  for (const checks::Check& one : checks::all_checks()) {
    text += entry(one.name, one.question, one.of_captures ? "a run that captured tensors" : "a run");
  }
  for (const checks::StateCheck& one : checks::state_checks()) text += entry(one.name, one.question, one.needs);
  return text;
}

}  // namespace plumbline::tools
