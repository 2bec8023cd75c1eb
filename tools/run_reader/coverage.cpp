#include "tools/run_reader/coverage.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "tools/run_reader/text.hpp"

namespace plumbline::tools {
namespace {

void add(std::vector<CoverageGap>& gaps, const std::string& what, std::int32_t rank) {
  const auto at = std::find_if(gaps.begin(), gaps.end(), [&](const CoverageGap& gap) { return gap.what == what; });
  if (at == gaps.end()) {
    gaps.push_back({what, {rank}});
  } else {
    at->ranks.push_back(rank);
  }
}

std::string missing_adapter(const reader::Definitions& definitions) {
  std::string text = "no torch adapter: collectives lack sizes and groups, optimizer steps and ranges are not recorded";
  if (const auto why = definitions.fact("adapter.reason"); !why.empty()) text += fmt::format(" ({})", why);
  if (const auto remedy = definitions.fact("adapter.remedy"); !remedy.empty())
    text += fmt::format("; remedy: {}", remedy);
  return text;
}

void add_gaps_of(const reader::Trace& trace, std::vector<CoverageGap>& gaps) {
  const reader::Definitions& definitions = trace.definitions();
  const std::int32_t rank = trace.rank();
  if (definitions.fact("adapter.state") == "missing") add(gaps, missing_adapter(definitions), rank);
  for (const reader::HookCount& hook : definitions.hooks) {
    if (hook.active) continue;
    add(gaps,
        hook.detail.empty() ? fmt::format("{}: not hooked", hook.name)
                            : fmt::format("{}: not hooked, {}", hook.name, hook.detail),
        rank);
  }
  for (const auto& [key, value] : definitions.facts) {
    if (key.starts_with("settings.complaint.")) add(gaps, "setting: " + value, rank);
  }
  for (const reader::Stat& stat : trace.stats().rows()) {
    if (stat.severity != reader::Severity::kDataLoss) continue;
    add(gaps, stat.detail.empty() ? fmt::format("data lost: {}", stat.name) : stat.detail, rank);
  }
}

}  // namespace

std::vector<CoverageGap> coverage_gaps(const Context& context) {
  std::vector<CoverageGap> gaps;
  for (const reader::Trace& trace : context.run.traces()) add_gaps_of(trace, gaps);
  for (const reader::Run::Skipped& skipped : context.run.skipped()) gaps.push_back({skipped.why, {}});
  if (const auto missing = context.run.missing_ranks(); !missing.empty()) {
    gaps.push_back({fmt::format("no trace of {}", ranks_phrase(missing)), {}});
  }
  return gaps;
}

std::string coverage_text(const Context& context, const std::vector<CoverageGap>& gaps) {
  std::string text;
  for (const CoverageGap& gap : gaps) {
    std::string where;
    if (!gap.ranks.empty() && gap.ranks.size() < context.run.traces().size()) where = ranks_phrase(gap.ranks) + ": ";
    text += wrapped("  " + printable(where + gap.what), 4) + '\n';
  }
  return text;
}

Json coverage_json(const std::vector<CoverageGap>& gaps) {
  Json json = Json::array();
  for (const CoverageGap& gap : gaps) json.push_back({{"what", gap.what}, {"ranks", gap.ranks}});
  return json;
}

}  // namespace plumbline::tools
