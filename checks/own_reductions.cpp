#include "checks/own_reductions.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "checks/replica_gradients.hpp"
#include "checks/replica_sets.hpp"

namespace plumbline::checks {
namespace {

using Trails = std::map<std::pair<int, std::int64_t>, const StepTrails*>;  // by rank and step

std::vector<const GradientTrail*> trails_of(const Trails& trails, const ReplicaSet& set, std::int64_t step) {
  std::vector<const GradientTrail*> replicas;
  for (const int rank : set.ranks) {
    const auto of_rank = trails.find({rank, step});
    if (of_rank == trails.end()) return {};
    const auto at = of_rank->second->parameters.find(set.name);
    if (at == of_rank->second->parameters.end() || at->second.backward == nullptr || at->second.reduced() == nullptr)
      return {};
    replicas.push_back(&at->second);
  }
  return replicas;
}

// Of one step's parameters together.
class Agreement {
 public:
  void add(const std::string& name, const std::vector<int>& ranks, std::optional<double> factor) {
    names_.insert(name);
    if (!factor || (found_ && (found_->ranks != ranks || std::fabs(found_->factor - *factor) > 1e-5 * *factor)))
      broken_ = true;
    if (factor && !found_) found_ = {ranks, *factor};
  }
  std::optional<OwnReduction> found() const { return broken_ ? std::nullopt : found_; }
  bool has(const std::string& name) const { return names_.contains(name); }

 private:
  std::set<std::string> names_;
  std::optional<OwnReduction> found_;
  bool broken_ = false;
};

// Where parameters are divided among the ranks, as by tensor parallelism, what is summed of the others is no batch.
bool are_all_of_the_model(CaptureLoader& loader, const StepTrails& trails, const Agreement& agreement) {
  return std::all_of(trails.parameters.begin(), trails.parameters.end(), [&](const auto& one) {
    if (one.second.backward == nullptr || agreement.has(one.first)) return true;
    const std::vector<double> values = loader.values(one.second.backward);
    return std::all_of(values.begin(), values.end(), [](double value) { return value == 0; });
  });
}

}  // namespace

std::map<std::int64_t, OwnReduction> own_reductions(CaptureLoader& loader, const std::vector<CapturedStep>& steps,
                                                    const std::vector<StepTrails>& trails) {
  std::map<std::int64_t, Trails> by_optimizer;
  for (const StepTrails& one : trails) by_optimizer[one.step->ordinal][{one.step->rank, one.step->step}] = &one;
  std::map<std::int64_t, Agreement> agreements;
  for (const ReplicaSet& set : replica_sets(steps, loader, {}).sets) {
    if (set.evident != Evident::kEqualGradients && set.evident != Evident::kDeclared) continue;
    const Trails& mine = by_optimizer[set.ordinal];
    for (const auto& [place, first] : mine) {
      if (place.first != set.ranks.front()) continue;
      const auto replicas = trails_of(mine, set, place.second);
      if (replicas.empty()) continue;
      const ReplicaGradient gradient = replica_gradient(loader, replicas);
      // Reduced by backward() itself.
      if (gradient.equal) continue;
      const GradientTrail& trail = *replicas.front();
      agreements[place.second].add(set.name, set.ranks,
                                   factor_of(values_in_places_of(loader, trail.reduced(), *trail.backward), gradient));
    }
  }
  std::map<std::int64_t, OwnReduction> result;
  for (const auto& [step, agreement] : agreements) {
    const auto found = agreement.found();
    const bool whole = found && std::all_of(by_optimizer.begin(), by_optimizer.end(),
                                            [&, step = step, &agreement = agreement](const auto& of_optimizer) {
                                              const auto at = of_optimizer.second.find({found->ranks.front(), step});
                                              return at == of_optimizer.second.end() ||
                                                     are_all_of_the_model(loader, *at->second, agreement);
                                            });
    if (whole) result[step] = *found;
  }
  return result;
}

}  // namespace plumbline::checks
