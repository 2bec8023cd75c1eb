#include "checks/gradient_classes.hpp"

#include <algorithm>
#include <tuple>

namespace plumbline::checks {
namespace {

constexpr int kMostSteps = 8;

using RankCapture = std::pair<int, const Capture*>;

RankGroups equal_classes(CaptureLoader& loader, const std::vector<RankCapture>& captures) {
  std::vector<std::vector<RankCapture>> classes;
  for (const RankCapture& one : captures) {
    const auto at = std::find_if(classes.begin(), classes.end(), [&](const std::vector<RankCapture>& some) {
      return compare(loader, some.front().second, one.second) == Likeness::kEqual;
    });
    if (at != classes.end()) {
      at->push_back(one);
    } else {
      classes.push_back({one});
    }
  }
  RankGroups groups;
  for (const auto& some : classes) {
    if (some.size() < 2) continue;
    std::vector<int>& ranks = groups.emplace_back();
    for (const RankCapture& one : some) ranks.push_back(one.first);
    std::sort(ranks.begin(), ranks.end());
  }
  return groups;
}

std::size_t members(const RankGroups& groups) {
  std::size_t count = 0;
  for (const auto& group : groups) count += group.size();
  return count;
}

}  // namespace

std::vector<HeldParameter> held_parameters(const std::vector<CapturedStep>& steps) {
  std::map<std::tuple<std::int64_t, std::string, std::vector<std::uint64_t>>, HeldParameter> held;
  std::map<std::pair<int, std::int64_t>, std::int64_t> first_steps;
  for (const CapturedStep& step : steps) {
    const auto [first, made] = first_steps.try_emplace({step.rank, step.ordinal}, step.step);
    if (!made && first->second != step.step) continue;
    for (const CapturedParameter& parameter : step.parameters) {
      const Capture* capture = parameter.any();
      if (capture == nullptr) continue;
      HeldParameter& one = held[{step.ordinal, parameter.name, capture->offset}];
      one.name = parameter.name;
      one.ordinal = step.ordinal;
      one.holders.push_back({step.rank, capture, parameter.module});
    }
  }
  std::vector<HeldParameter> result;
  for (auto& [place, one] : held) {
    if (one.holders.size() > 1) result.push_back(std::move(one));
  }
  return result;
}

RankGroups equal_at_first(CaptureLoader& loader, const HeldParameter& parameter) {
  std::vector<RankCapture> captures;
  for (const Holder& holder : parameter.holders) captures.emplace_back(holder.rank, holder.first);
  return equal_classes(loader, captures);
}

GradientClasses::GradientClasses(const std::vector<CapturedStep>& steps, CaptureLoader& loader) : loader_(loader) {
  for (const CapturedStep& step : steps) steps_[{step.ordinal, step.step}][step.rank] = &step;
}

RankGroups GradientClasses::of(const HeldParameter& parameter) {
  RankGroups best;
  int looked = 0;
  for (auto at = steps_.lower_bound({parameter.ordinal, 0}); at != steps_.end() && looked < kMostSteps; ++at) {
    if (at->first.first != parameter.ordinal) break;
    std::vector<RankCapture> captures;
    for (const Holder& holder : parameter.holders) {
      const auto step = at->second.find(holder.rank);
      const CapturedParameter* found = step != at->second.end() ? step->second->find(parameter.name) : nullptr;
      if (found != nullptr && found->grad != nullptr) captures.emplace_back(holder.rank, found->grad);
    }
    if (captures.size() < 2) continue;
    ++looked;
    RankGroups groups = equal_classes(loader_, captures);
    std::erase_if(groups, [&](const std::vector<int>& ranks) {
      const auto first = std::find_if(captures.begin(), captures.end(),
                                      [&](const RankCapture& one) { return one.first == ranks.front(); });
      return constant(loader_, *first->second);
    });
    if (members(groups) > members(best)) best = std::move(groups);
    if (members(best) == parameter.holders.size()) break;
  }
  return best;
}

bool GradientClasses::any(const HeldParameter& parameter) const {
  for (auto at = steps_.lower_bound({parameter.ordinal, 0}); at != steps_.end(); ++at) {
    if (at->first.first != parameter.ordinal) break;
    for (const auto& [rank, step] : at->second) {
      const CapturedParameter* found = step->find(parameter.name);
      if (found != nullptr && found->grad != nullptr) return true;
    }
  }
  return false;
}

}  // namespace plumbline::checks
