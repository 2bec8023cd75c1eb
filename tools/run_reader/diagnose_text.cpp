#include "tools/run_reader/diagnose_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string_view>
#include <vector>

#include "tools/run_reader/run_name.hpp"
#include "tools/run_reader/text.hpp"

namespace plumbline::tools {
namespace {

using checks::Diagnosis;
using checks::Finding;
using checks::FindingRef;
using checks::Status;
using checks::Verdict;

// What a first screen holds; the rest is in the JSON.
constexpr std::size_t kMostDetails = 6;
constexpr std::size_t kMostFollowing = 6;
constexpr std::size_t kMostUnknown = 5;
constexpr std::size_t kLabel = 13;

std::string label_of(Status status, const Style& style) {
  return status == Status::kFail ? style.red("FAIL") : style.yellow("OPEN");
}

// "  rank         rank 1 …", wrapped under its label.
std::string row(std::string_view label, std::string_view text) {
  if (text.empty()) return {};
  const std::string line = fmt::format("  {:<{}}{}", label, kLabel - 2, printable(text));
  return wrapped(line, kLabel) + '\n';
}

std::string title_line(const Diagnosis& diagnosis, FindingRef ref, const Style& style) {
  const Finding& finding = diagnosis.finding(ref);
  const std::string plain = fmt::format("FAIL  {}: {}", diagnosis.verdicts[ref.verdict].check, finding.title);
  constexpr std::size_t kIndent = 6;
  return label_of(finding.status, style) + "  " + style.bold(wrapped(printable(plain), kIndent).substr(kIndent)) + '\n';
}

// "RUN: 16 processes of a world of 16 on 2 hosts".
std::string heading_of(const Context& context) {
  const reader::Run& run = context.run;
  std::set<std::string> hosts;
  for (const reader::Trace& trace : run.traces()) hosts.insert(trace.host());
  std::string text = fmt::format("{}: {}", run_name(context), plural(run.traces().size(), "process", "processes"));
  if (run.world_size() > 0) text += fmt::format(" of a world of {}", run.world_size());
  text += hosts.size() == 1 ? fmt::format(" on {}", *hosts.begin()) : fmt::format(" on {} hosts", hosts.size());
  if (run.last_attempt() > 0) text += fmt::format(", restarted {} times", run.last_attempt());
  return text;
}

std::string root_text(const Diagnosis& diagnosis, const Style& style) {
  const FindingRef ref = diagnosis.causes.front();
  const Finding& root = diagnosis.finding(ref);
  const checks::Descent& way = root.descent;
  std::string text = title_line(diagnosis, ref, style) + '\n';
  text += row("run", way.run) + row("rank", way.rank) + row("component", way.component) +
          row("operation", way.operation) + row("line", way.line);
  std::vector<std::string_view> details;
  for (const std::string& detail : root.details) {
    if (detail != way.rank && detail != way.run) details.emplace_back(detail);
  }
  for (std::size_t index = 0; index < std::min(details.size(), kMostDetails); ++index)
    text += row(index == 0 ? "facts" : "", details[index]);
  if (details.size() > kMostDetails)
    text += row("", fmt::format("and {}: --json lists them", plural(details.size() - kMostDetails, "more fact")));
  for (std::size_t index = 0; index < root.unknown.size(); ++index) {
    text += row(index == 0 ? "not known" : "", root.unknown[index]);
  }
  return text + row("next", root.next);
}

std::string list(const Diagnosis& diagnosis, std::string_view title, const std::vector<FindingRef>& refs,
                 const Style& style) {
  if (refs.empty()) return {};
  std::string text = '\n' + style.bold(title) + '\n';
  for (std::size_t index = 0; index < refs.size(); ++index) {
    if (index == kMostFollowing) {
      text += fmt::format("      and {}: --json lists them\n", plural(refs.size() - index, "more finding"));
      break;
    }
    text += title_line(diagnosis, refs[index], style);
    if (const std::string& next = diagnosis.finding(refs[index]).next; !next.empty() && title == "also found") {
      text += wrapped("      next: " + printable(next), 8) + '\n';
    }
  }
  return text;
}

std::string checks_text(const Diagnosis& diagnosis, const Style& style) {
  std::string text;
  for (const Verdict& verdict : diagnosis.verdicts) {
    if (!verdict.findings.empty()) continue;
    std::string label = "-     ";
    if (verdict.status == Status::kPass) label = style.green("ok") + "    ";
    if (verdict.status == Status::kInconclusive) label = style.yellow("OPEN") + "  ";
    constexpr std::size_t kIndent = 6;
    text +=
        label +
        wrapped(std::string(kIndent, ' ') + verdict.check + ": " + printable(verdict.reason), kIndent).substr(kIndent) +
        '\n';
  }
  return text.empty() ? text : '\n' + text;
}

std::string unknown_text(const Diagnosis& diagnosis, const Style& style) {
  std::vector<std::string> lines;
  std::set<std::string> told;
  for (const Verdict& verdict : diagnosis.verdicts) {
    for (const std::string& unknown : verdict.unknown) {
      if (told.insert(unknown).second) lines.push_back(unknown);
    }
  }
  if (lines.empty()) return {};
  std::string text = '\n' + style.bold("not known from these traces") + '\n';
  for (std::size_t index = 0; index < lines.size(); ++index) {
    if (index == kMostUnknown && lines.size() > kMostUnknown + 1) {
      return text + fmt::format("  and {} more: --json lists them\n", lines.size() - index);
    }
    text += wrapped("  " + printable(lines[index]), 4) + '\n';
  }
  return text;
}

}  // namespace

std::string diagnosis_text(const Context& context, const Diagnosis& diagnosis, const Style& style) {
  std::string text = style.bold(wrapped(printable(heading_of(context)), 2)) + '\n';
  text += diagnosis.causes.empty() ? "nothing wrong was found\n" : root_text(diagnosis, style);
  text += list(diagnosis, "follows from it", diagnosis.consequences, style);
  std::vector<FindingRef> also;
  for (std::size_t index = 1; index < diagnosis.causes.size(); ++index) also.push_back(diagnosis.causes[index]);
  also.insert(also.end(), diagnosis.others.begin(), diagnosis.others.end());
  return text + list(diagnosis, "also found", also, style) + checks_text(diagnosis, style) +
         unknown_text(diagnosis, style);
}

}  // namespace plumbline::tools
