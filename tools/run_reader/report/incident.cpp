#include "tools/run_reader/report/incident.hpp"

#include <algorithm>
#include <limits>

#include "reader/steps.hpp"

namespace plumbline::tools {
namespace {

constexpr std::size_t kMostRanks = 16;
constexpr double kStepsBefore = 6;
constexpr double kShortest = 0.01;  // seconds

const checks::Finding* first_finding(const std::vector<checks::Verdict>& verdicts) {
  for (const checks::Status wanted : {checks::Status::kFail, checks::Status::kInconclusive}) {
    for (const checks::Verdict& verdict : verdicts) {
      for (const checks::Finding& finding : verdict.findings)
        if (finding.status == wanted) return &finding;
    }
  }
  return nullptr;
}

// The end of the last logical step of all ranks; without steps the end of the run.
double last_step_end(const Context& context, double end) {
  double last = 0;
  for (std::size_t index = 0; index < context.run.traces().size(); ++index) {
    const reader::StepTimeline& steps = context.run.traces()[index].steps();
    if (steps.count() > 0) last = std::max(last, context.subject.seconds(index, steps.window(steps.count() - 1).to_ns));
  }
  return last > 0 ? last : end;
}

double end_of(const Context& context) {
  double end = 0;
  for (std::size_t index = 0; index < context.run.traces().size(); ++index) {
    end = std::max(end, context.subject.seconds(index, context.run.traces()[index].last_ns()));
  }
  return end;
}

// Median over the ranks' mean steps; without steps a tenth of the run.
double step_seconds(const Context& context, double end) {
  std::vector<double> means;
  for (const reader::Trace& trace : context.run.traces()) {
    const reader::StepTimeline& steps = trace.steps();
    if (steps.count() < 2) continue;
    const auto span = steps.window(steps.count() - 1).to_ns - steps.window(0).to_ns;
    means.push_back(static_cast<double>(span) / 1e9 / static_cast<double>(steps.count() - 1));
  }
  if (means.empty()) return end / 10;
  std::nth_element(means.begin(), means.begin() + static_cast<std::ptrdiff_t>(means.size() / 2), means.end());
  return means[means.size() / 2];
}

}  // namespace

Incident incident_of(const Context& context, const std::vector<checks::Verdict>& verdicts) {
  Incident incident;
  const double end = end_of(context);
  const double before = std::max(kStepsBefore * step_seconds(context, end), kShortest);
  const checks::Finding* finding = first_finding(verdicts);
  double moment = finding == nullptr ? last_step_end(context, end) : end;
  if (finding != nullptr) {
    for (const checks::Evidence& evidence : finding->evidence)
      if (evidence.time_ns != 0) moment = std::min(moment, static_cast<double>(evidence.time_ns) / 1e9);
    incident.ranks = finding->ranks;
  }
  incident.from_s = std::max(0.0, moment - before);
  // A hang may have lasted for hours: what led to it must stay visible.
  incident.to_s = std::min(end, moment + before);
  if (incident.to_s <= incident.from_s) incident.to_s = incident.from_s + kShortest;

  for (const reader::Trace& trace : context.run.traces()) {
    const bool known = std::find(incident.ranks.begin(), incident.ranks.end(), trace.rank()) != incident.ranks.end();
    if (!known) incident.ranks.push_back(trace.rank());
  }
  if (incident.ranks.size() > kMostRanks) {
    incident.left_out = incident.ranks.size() - kMostRanks;
    incident.ranks.resize(kMostRanks);
  }
  return incident;
}

}  // namespace plumbline::tools
