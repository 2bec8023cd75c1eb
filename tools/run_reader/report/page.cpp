#include "tools/run_reader/report/page.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "tools/run_reader/coverage.hpp"
#include "tools/run_reader/report/formula_plot.hpp"
#include "tools/run_reader/report/html.hpp"
#include "tools/run_reader/report/incident.hpp"
#include "tools/run_reader/report/lanes.hpp"
#include "tools/run_reader/report/stacks_section.hpp"
#include "tools/run_reader/report/time_plots.hpp"
#include "tools/run_reader/report/wavefront.hpp"
#include "tools/run_reader/run_facts.hpp"
#include "tools/run_reader/run_name.hpp"
#include "tools/run_reader/text.hpp"

namespace plumbline::tools {
namespace {

constexpr std::string_view kStyle = R"(
body{font:15px/1.45 system-ui,sans-serif;color:#1a1a1a;background:#fff;margin:0 auto;padding:16px 24px;max-width:1232px}
h1{font-size:22px;margin:8px 0}h2{font-size:17px;margin:28px 0 8px;border-bottom:1px solid #ddd}
pre{font:13px/1.4 ui-monospace,monospace;background:#f6f6f6;padding:10px;overflow-x:auto;margin:6px 0;white-space:pre-wrap}
table{border-collapse:collapse;font-size:13px;width:100%}th,td{text-align:left;padding:3px 10px 3px 0;vertical-align:top;
border-bottom:1px solid #eee;overflow-wrap:anywhere}tr.uneven{background:#fdf3ec}
.verdict{border-left:6px solid #999;padding:4px 12px;margin:8px 0;background:#fafafa}.verdict p{margin:2px 0}
.fail{border-color:#c0392b}.inconclusive{border-color:#d68910}.pass{border-color:#1e8449}
.verdict b{text-transform:uppercase;font-size:12px;margin-right:8px}.unknown{color:#6b5900}
svg{width:100%;height:auto;display:block;margin:6px 0}.tick{font-size:11px;fill:#555}.title{font-size:13px;font-weight:600}
.grid{stroke:#e4e4e4}.axis{stroke:#888}.line{fill:none;stroke-width:1.6}.mark{fill:#c0392b}
.range{fill:#b8d4ea}.step{fill:#009e73}.call{fill:#7d8a97}.open{fill:#c0392b}
details summary{cursor:pointer;padding:2px 0})";

std::string_view status_text(checks::Status status) {
  switch (status) {
    case checks::Status::kPass:
      return "pass";
    case checks::Status::kFail:
      return "fail";
    case checks::Status::kInconclusive:
      return "inconclusive";
    case checks::Status::kNotEvaluated:
      return "not evaluated";
  }
  return "not evaluated";
}

void add_finding(const checks::Verdict& verdict, const checks::Finding& finding, std::string& html) {
  html += fmt::format("<div class=\"verdict {}\"><p><b>{}</b>{}</p>", status_text(finding.status),
                      escaped(verdict.check), escaped(finding.title));
  for (const std::string& detail : finding.details) html += element("p", detail);
  for (const std::string& unknown : finding.unknown)
    html += fmt::format("<p class=\"unknown\">not known: {}</p>", escaped(unknown));
  html += "</div>\n";
}

std::string verdicts_html(const std::vector<checks::Verdict>& verdicts) {
  std::string html;
  for (const checks::Status status : {checks::Status::kFail, checks::Status::kInconclusive}) {
    for (const checks::Verdict& verdict : verdicts) {
      for (const checks::Finding& finding : verdict.findings)
        if (finding.status == status) add_finding(verdict, finding, html);
    }
  }
  for (const checks::Verdict& verdict : verdicts) {
    if (!verdict.findings.empty()) continue;
    html += fmt::format("<div class=\"verdict {}\"><p><b>{}</b>{}: {}</p></div>\n",
                        verdict.status == checks::Status::kPass ? "pass" : "", escaped(verdict.check),
                        status_text(verdict.status), escaped(verdict.reason));
  }
  return html;
}

void add_section(std::string_view title, const std::string& contents, std::string& html) {
  if (!contents.empty()) html += element("h2", title) + "\n" + contents;
}

}  // namespace

std::string report_page(const Context& context, const std::vector<checks::Verdict>& verdicts) {
  const RunFacts facts = run_facts(context);
  const Incident incident = incident_of(context, verdicts);
  const auto gaps = coverage_gaps(context);
  std::string html = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
      "<meta name=\"viewport\" content=\"width=device-width\"><link rel=\"icon\" href=\"data:,\">"
      "<title>{0}</title><style>{1}</style></head><body>\n<h1>{0}</h1>\n",
      escaped(run_name(context)), kStyle);
  html += verdicts_html(verdicts);
  add_section("What ran", "<pre>" + escaped(run_facts_text(context, facts)) + "</pre>\n", html);
  add_section(fmt::format("Ranks from {:.3f} s to {:.3f} s", incident.from_s, incident.to_s),
              lanes_svg(context, incident) +
                  "<p class=\"tick\">Upper row: optimizer steps (green) and ranges; lower row: collectives, red where "
                  "one never ended. Point at a box to read it.</p>\n",
              html);
  add_section("How far each rank came", wavefront_html(group_fronts(context)), html);
  add_section("Memory", memory_plots(context) + formula_plots(context), html);
  add_section("Steps", step_plot(context), html);
  add_section("Stacks", stacks_html(context), html);
  if (!gaps.empty()) add_section("Not covered", "<pre>" + escaped(coverage_text(context, gaps)) + "</pre>\n", html);
  return html + "</body></html>\n";
}

}  // namespace plumbline::tools
