#include "checks/capture_doubts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "checks/words.hpp"

namespace plumbline::checks {
namespace {

using StepsOf = std::map<int, std::set<std::int32_t>>;  // by rank

StepsOf captured_steps_of(const reader::RunCaptures& captures) {
  StepsOf steps;
  for (const reader::CaptureFile& file : captures.files()) {
    for (const reader::Capture& capture : file.captures()) {
      if (capture.probe == "optimizer.step") steps[capture.rank].insert(static_cast<std::int32_t>(capture.step));
    }
  }
  return steps;
}

bool have_one_in_common(const std::set<std::int32_t>& a, const std::set<std::int32_t>& b) {
  return std::any_of(a.begin(), a.end(), [&](std::int32_t step) { return b.contains(step); });
}

// Two ranks that captured no step in common, though the setting is meant to be one for all.
std::string apart_text(const StepsOf& steps) {
  for (const auto& [rank, mine] : steps) {
    for (const auto& [other, theirs] : steps) {
      if (other <= rank || have_one_in_common(mine, theirs)) continue;
      return fmt::format(
          "rank {} captured steps {} and rank {} steps {}, none in common: give all ranks one PLUMBLINE_CAPTURE_STEPS",
          rank, ranks_text({mine.begin(), mine.end()}), other, ranks_text({theirs.begin(), theirs.end()}));
    }
  }
  return {};
}

using Versions = std::map<std::string, std::vector<std::int32_t>>;  // with their ranks

Versions torch_versions(const reader::Run& run, const reader::RunCaptures& captures) {
  Versions versions;
  for (const reader::CaptureFile& file : captures.files()) {
    const auto trace = reader::trace_of(run, file.process());
    const std::string_view version = trace ? run.traces()[*trace].definitions().fact("torch.version") : "";
    if (!version.empty()) versions[std::string(version)].push_back(file.process().rank);
  }
  return versions;
}

std::string names_of(const Versions& versions) {
  std::string text;
  for (const auto& [version, ranks] : versions) text += (text.empty() ? "torch " : " and torch ") + version;
  return text;
}

int world_of(const reader::Run& run, const reader::RunCaptures& captures) {
  int world = 0;
  for (const reader::CaptureFile& file : captures.files()) {
    if (const auto trace = reader::trace_of(run, file.process()))
      world = std::max(world, run.traces()[*trace].world_size());
  }
  return world;
}

}  // namespace

std::vector<std::string> capture_doubts(const Subject& subject, const reader::CaptureSet& set) {
  std::vector<std::string> doubts;
  if (const Versions versions = torch_versions(subject.run(), set.captures); versions.size() > 1) {
    std::string text;
    for (const auto& [version, ranks] : versions)
      text += fmt::format("{}torch {} on {}", text.empty() ? "" : ", ", version, ranks_phrase(ranks));
    doubts.push_back(fmt::format(
        "the ranks ran different versions, which may round otherwise: {}; install one version for all ranks", text));
  }
  if (std::string apart = apart_text(captured_steps_of(set.captures)); !apart.empty())
    doubts.push_back(std::move(apart));
  return doubts;
}

std::vector<std::string> reference_doubts(const Subject& subject, const Subject& reference) {
  std::vector<std::string> doubts;
  const std::string mine = names_of(torch_versions(subject.run(), subject.captures()));
  const std::string theirs = names_of(torch_versions(reference.run(), reference.captures()));
  if (!mine.empty() && !theirs.empty() && mine != theirs)
    doubts.push_back(fmt::format(
        "this run has {}, the reference {}, and the same step may round otherwise: resume with the reference's version",
        mine, theirs));
  const int world = world_of(subject.run(), subject.captures());
  const int other_world = world_of(reference.run(), reference.captures());
  if (world > 0 && other_world > 0 && world != other_world)
    doubts.push_back(fmt::format(
        "this run has {} ranks, the reference {}, and each takes another part of a batch: resume on as many ranks",
        world, other_world));
  return doubts;
}

}  // namespace plumbline::checks
