#include "checks/observations.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "checks/words.hpp"

namespace plumbline::checks {
namespace {

constexpr std::size_t kMostEvidence = 8;
constexpr std::size_t kMostTensorsNamed = 6;

template <class T>
void insert_once(std::vector<T>& into, const T& value) {
  if (std::find(into.begin(), into.end(), value) == into.end()) into.push_back(value);
}

std::string names_text(const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t i = 0; i < std::min(names.size(), kMostTensorsNamed); ++i)
    text += fmt::format("{}{}", i > 0 ? ", " : "", names[i]);
  if (names.size() > kMostTensorsNamed) text += fmt::format(" and {} more", names.size() - kMostTensorsNamed);
  return text;
}

}  // namespace

Evidence evidence_of(const Subject& subject, const reader::Capture& capture, std::string shows) {
  Evidence evidence;
  const auto& files = subject.captures().files();
  if (capture.file < files.size())
    evidence.trace = std::filesystem::path(files[capture.file].path()).filename().string();
  evidence.rank = capture.rank;
  evidence.step = capture.step;
  evidence.time_ns = capture.time_ns;
  evidence.record = capture.key;
  if (!capture.parts.empty()) evidence.frame_offset = capture.parts.front().frame_offset;
  evidence.shows = std::move(shows);
  return evidence;
}

void Observations::add(Observation observation) {
  const auto [at, made] = kinds_.try_emplace({observation.kind, observation.component});
  Gathered& gathered = at->second;
  if (made || observation.step < gathered.first.step) {
    gathered.first = observation;
    gathered.tensors.clear();
  }
  if (observation.step == gathered.first.step && !observation.tensor.empty())
    insert_once(gathered.tensors, observation.tensor);
  if (observation.ranks.empty()) {
    insert_once(gathered.ranks, observation.rank);
  } else {
    for (const std::int32_t rank : observation.ranks) insert_once(gathered.ranks, rank);
  }
  insert_once(gathered.steps, observation.step);
  const auto [since, first_sight] = gathered.since.try_emplace(observation.tensor, observation.step);
  if (!first_sight) since->second = std::min(since->second, observation.step);
  if (observation.capture != nullptr && gathered.evidence.size() < kMostEvidence)
    gathered.evidence.push_back(std::move(observation));
}

std::vector<Finding> Observations::findings(const Subject& subject) const {
  std::vector<std::pair<std::int64_t, Finding>> ordered;
  for (const auto& [kind, gathered] : kinds_) {
    const Observation& first = gathered.first;
    Finding finding;
    finding.status = first.status;
    finding.ranks = gathered.ranks;
    std::sort(finding.ranks.begin(), finding.ranks.end());
    finding.affected = finding.ranks;
    finding.title = fmt::format("step {}, {}: {}{}", first.step, ranks_phrase(finding.ranks),
                                first.tensor.empty() ? "" : first.tensor + " ", first.words);
    finding.details = first.details;
    if (gathered.since.size() > 1)
      finding.details.push_back(fmt::format("{} tensors: {}", gathered.since.size(), names_text(gathered.tensors)));
    if (gathered.steps.size() > 1) {
      const auto [least, most] = std::minmax_element(gathered.steps.begin(), gathered.steps.end());
      finding.details.push_back(
          fmt::format("in {} captured steps, from step {} to step {}", gathered.steps.size(), *least, *most));
    }
    finding.next = first.next;
    finding.descent.rank = fmt::format("{}, step {}", ranks_phrase(finding.ranks), first.step);
    finding.descent.component = first.component;
    finding.descent.operation = first.tensor;
    for (const Observation& one : gathered.evidence)
      finding.evidence.push_back(evidence_of(subject, *one.capture, fmt::format("{} {}", one.tensor, one.words)));
    ordered.emplace_back(first.step, std::move(finding));
  }
  std::stable_sort(ordered.begin(), ordered.end(), [](const auto& a, const auto& b) {
    return std::pair(a.second.status, a.first) < std::pair(b.second.status, b.first);
  });
  std::vector<Finding> findings;
  findings.reserve(ordered.size());
  for (auto& [step, finding] : ordered) findings.push_back(std::move(finding));
  return findings;
}

}  // namespace plumbline::checks
