#include "checks/coverage.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "checks/call_text.hpp"
#include "checks/capture_doubts.hpp"
#include "checks/capture_losses.hpp"
#include "checks/coverage_probes.hpp"
#include "checks/words.hpp"

namespace plumbline::checks {
namespace {

class Gaps {
 public:
  void add(std::string what, std::int32_t rank, bool grave) {
    const auto [at, fresh] = index_.try_emplace(what, gaps_.size());
    if (fresh) gaps_.push_back({std::move(what), {}, grave});
    gaps_[at->second].ranks.push_back(rank);
  }
  void add_of_run(std::string what) { gaps_.push_back({std::move(what), {}, true}); }
  std::vector<CoverageGap> take() { return std::move(gaps_); }

 private:
  std::vector<CoverageGap> gaps_;
  std::unordered_map<std::string, std::size_t> index_;
};

std::string missing_adapter(const reader::Definitions& definitions) {
  std::string text = "no torch adapter: collectives lack sizes and groups, optimizer steps and ranges are not recorded";
  if (const auto why = definitions.fact("adapter.reason"); !why.empty()) text += fmt::format(" ({})", why);
  if (const auto remedy = definitions.fact("adapter.remedy"); !remedy.empty())
    text += fmt::format("; remedy: {}", remedy);
  return text;
}

// What an imported file is, and what its format does not say.
void add_source(const reader::Definitions& definitions, std::int32_t rank, Gaps& gaps) {
  const std::string_view format = definitions.fact("source.format");
  const std::string_view lacks = definitions.fact("source.lacks");
  if (format.empty() || lacks.empty()) return;
  gaps.add(fmt::format("imported from {}, which does not say: {}", format, lacks), rank, false);
}

// What the marks of collectives do not tell, of a trace that has collectives.
void add_marks(const reader::Trace& trace, const reader::TraceSummary& summary, Gaps& gaps) {
  if (summary.collectives == 0 || !trace.definitions().fact("source.format").empty()) return;
  const auto events = [&](recorder::Kind kind) { return summary.events[static_cast<std::size_t>(kind)]; };
  if (events(recorder::Kind::kCollectiveEnd) == 0) {
    gaps.add("ends of collectives are not recorded: which of them finished is not known", trace.rank(), false);
  } else if (events(recorder::Kind::kCollectiveStart) == 0) {
    gaps.add("starts of collectives are not recorded: waiting and executing are not told apart", trace.rank(), false);
  }
  if (summary.ledger.sites.empty()) {
    gaps.add("lines of the script that made the collectives are not recorded", trace.rank(), false);
  }
}

void add_evicted(const Subject& subject, std::size_t index, Gaps& gaps) {
  const reader::Trace& trace = subject.run().traces()[index];
  for (const reader::EvictedRange& evicted : trace.evicted()) {
    gaps.add(fmt::format("events from {} to {} were given up for the size limit of the trace",
                         time_text(subject.seconds(index, evicted.first_ns)),
                         time_text(subject.seconds(index, evicted.last_ns))),
             trace.rank(), false);
  }
}

void add_gaps_of(const Subject& subject, std::size_t index, Gaps& gaps) {
  const reader::Trace& trace = subject.run().traces()[index];
  const reader::Definitions& definitions = trace.definitions();
  const std::int32_t rank = trace.rank();
  if (definitions.fact("adapter.state") == "missing") gaps.add(missing_adapter(definitions), rank, true);
  for (const reader::HookCount& hook : definitions.hooks) {
    if (hook.active) continue;
    gaps.add(hook.detail.empty() ? fmt::format("{}: not hooked", hook.name)
                                 : fmt::format("{}: not hooked, {}", hook.name, hook.detail),
             rank, false);
  }
  for (const auto& [key, value] : definitions.facts) {
    if (key.starts_with("settings.complaint.")) gaps.add("setting: " + value, rank, false);
  }
  add_source(definitions, rank, gaps);
  for (const reader::Stat& stat : trace.stats().rows()) {
    if (stat.severity != reader::Severity::kDataLoss) continue;
    gaps.add(stat.detail.empty() ? fmt::format("data lost: {}", stat.name) : stat.detail, rank, true);
  }
  add_evicted(subject, index, gaps);
  add_marks(trace, subject.summaries()[index], gaps);
}

void add_clocks(const Subject& subject, Gaps& gaps) {
  std::string hosts;
  for (const reader::HostClock& clock : subject.clock().alignment().hosts()) {
    if (clock.method == reader::ClockMethod::kWallClock) hosts += (hosts.empty() ? "" : ", ") + clock.host;
  }
  if (!hosts.empty()) {
    gaps.add_of_run(
        fmt::format("the clock of {} is set by its wall clock alone: order against other hosts is uncertain", hosts));
  }
}

}  // namespace

std::vector<CoverageGap> coverage_gaps(const Subject& subject) {
  Gaps gaps;
  for (std::size_t index = 0; index < subject.run().traces().size(); ++index) add_gaps_of(subject, index, gaps);
  for (const reader::Run::Skipped& skipped : subject.run().skipped()) gaps.add_of_run(skipped.why);
  if (const auto missing = subject.run().missing_ranks(); !missing.empty()) {
    gaps.add_of_run(fmt::format("no trace of {}", ranks_phrase({missing.begin(), missing.end()})));
  }
  if (const int launches = subject.run().launches(); launches > 1) {
    gaps.add_of_run(
        fmt::format("{} launches share this directory; steps and missing ranks are those of the last", launches));
  }
  for (const CaptureLoss& loss : capture_losses(subject)) {
    if (loss.rank >= 0) gaps.add(loss.what, loss.rank, true);
    if (loss.rank < 0) gaps.add_of_run(loss_text(loss));
  }
  for (const reader::CaptureSet& set : subject.capture_sets().all) {
    for (std::string& doubt : capture_doubts(subject, set)) gaps.add_of_run(std::move(doubt));
  }
  add_clocks(subject, gaps);
  return gaps.take();
}

std::string gap_text(const Subject& subject, const CoverageGap& gap) {
  if (gap.ranks.empty() || gap.ranks.size() >= subject.run().traces().size()) return gap.what;
  return ranks_phrase(gap.ranks) + ": " + gap.what;
}

Verdict check_coverage(const Subject& subject) {
  Verdict verdict;
  verdict.check = "coverage";
  if (subject.run().traces().empty()) {
    verdict.reason = "there is no trace";
    return verdict;
  }
  std::vector<CoverageGap> gaps = coverage_gaps(subject);
  for (CoverageGap& gap : probe_gaps(subject)) gaps.push_back(std::move(gap));
  for (const CoverageGap& gap : gaps) verdict.unknown.push_back(gap_text(subject, gap));
  const bool grave = std::any_of(gaps.begin(), gaps.end(), [](const CoverageGap& gap) { return gap.grave; });
  verdict.status = grave ? Status::kInconclusive : Status::kPass;
  verdict.reason = grave          ? "part of what the checks need was not recorded, or is lost"
                   : gaps.empty() ? "all that the checks need was recorded"
                                  : "what the checks need was recorded; some details were not";
  return verdict;
}

}  // namespace plumbline::checks
