#include "checks/gradient_scale.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <utility>

#include "checks/gradient_trails.hpp"
#include "checks/loss_scale.hpp"
#include "checks/optimizer_groups.hpp"
#include "checks/reduced_elements.hpp"
#include "checks/replica_gradients.hpp"
#include "checks/replica_sets.hpp"

namespace plumbline::checks {
namespace {

// What each step's loss is of the token mean, by rank and step; computed when it is first asked for.
class LossRatios {
 public:
  LossRatios(const Subject& subject, CaptureLoader& loader) : subject_(subject), loader_(loader) {}

  double of(int rank, std::int64_t step) {
    if (!ratios_) ratios_ = loss_ratios(subject_, loader_);
    const auto at = ratios_->find({rank, step});
    return at == ratios_->end() ? 1 : at->second;
  }

 private:
  const Subject& subject_;
  CaptureLoader& loader_;
  std::optional<std::map<std::pair<int, std::int64_t>, double>> ratios_;
};

class Examiner {
 public:
  Examiner(const Subject& subject, CaptureLoader& loader, const std::vector<CapturedStep>& steps, Observations& into)
      : loader_(loader),
        into_(into),
        reduced_(subject),
        ratios_(subject, loader),
        trails_(gradient_trails(subject.captures(), steps)) {
    for (const StepTrails& trails : trails_) by_place_[{trails.step->ordinal, trails.step->step}].push_back(&trails);
    for (const ReplicaSet& set : replica_sets(steps, loader, {}).sets)
      replicas_[{set.ordinal, set.name}].push_back(set.ranks);
  }

  void run() {
    for (const StepTrails& trails : trails_) kept(trails);
    for (const auto& [place, of_ranks] : by_place_) {
      for (const StepTrails* trails : of_ranks) {
        for (const auto& [name, trail] : trails->parameters) scaled(*trails, name, of_ranks);
      }
    }
  }

 private:
  void kept(const StepTrails& trails) {
    if (trails.previous == nullptr) return;
    for (const auto& [name, trail] : trails.parameters) {
      const CapturedParameter* before = trails.previous->find(name);
      if (trail.kept == nullptr || before == nullptr) continue;
      const std::vector<double> now = loader_.values(trail.kept);
      const bool any = std::any_of(now.begin(), now.end(), [](double value) { return value != 0; });
      // Where backward() adds nothing to it, as to a copy that is stepped in the parameter's place, nothing counts
      // twice.
      if (trail.backward != nullptr && now == values_in_places_of(loader_, trail.backward, *trail.kept)) continue;
      if (!any || now != values_in_places_of(loader_, before->grad, *trail.kept)) continue;
      report(trails, name, "gradient kept", Status::kFail,
             fmt::format("still has the gradient of step {} when backward() begins: it counts twice",
                         trails.previous->step),
             {}, "call zero_grad() once for each step", {trails.step->rank});
    }
  }

  std::vector<int> ranks_with(std::int64_t ordinal, const std::string& name, int rank) const {
    if (const auto at = replicas_.find({ordinal, name}); at != replicas_.end()) {
      for (const std::vector<int>& ranks : at->second) {
        if (std::find(ranks.begin(), ranks.end(), rank) != ranks.end()) return ranks;
      }
    }
    return {rank};
  }

  void scaled(const StepTrails& trails, const std::string& name, const std::vector<const StepTrails*>& of_ranks) {
    const std::vector<int> ranks = ranks_with(trails.step->ordinal, name, trails.step->rank);
    if (ranks.front() != trails.step->rank) return;  // told by the first of them
    std::vector<const GradientTrail*> members;
    for (const StepTrails* one : of_ranks) {
      if (std::find(ranks.begin(), ranks.end(), one->step->rank) == ranks.end()) continue;
      const auto at = one->parameters.find(name);
      if (at == one->parameters.end() || at->second.backward == nullptr || at->second.reduced() == nullptr) return;
      members.push_back(&at->second);
    }
    if (members.size() != ranks.size()) return;
    const GradientTrail& first = *members.front();
    const ReplicaGradient gradient = replica_gradient(loader_, members);
    const auto factor = factor_of(values_in_places_of(loader_, first.reduced(), *first.backward), gradient);
    if (factor && *factor >= 2 && *factor == std::round(*factor))
      multiplied(trails, name, ranks, first, gradient.equal, *factor);
  }

  void multiplied(const StepTrails& trails, const std::string& name, const std::vector<int>& ranks,
                  const GradientTrail& trail, bool equal, double factor) {
    // A loss that is smaller by just that is made up for.
    if (std::fabs(factor * ratios_.of(trails.step->rank, trails.step->step) - 1) <= 1e-4) return;
    const auto world = static_cast<double>(ranks.size());
    const std::uint64_t reduced =
        reduced_.between(trails.step->rank, trail.backward->time_ns, trails.step->note->time_ns);
    std::uint64_t elements = 0;
    for (const CapturedParameter& parameter : trails.step->parameters)
      elements += parameter.grad != nullptr ? parameter.grad->elements() : 0;
    const double after = elements > 0 ? static_cast<double>(reduced) / static_cast<double>(elements) : 0;
    // What is equal on all ranks was reduced in backward(), by a hook.
    const double times = std::floor(after + 0.01) + (equal && world > 1 ? 1 : 0);
    const bool by_world = world > 1 && (factor == world || factor == world * world);
    if (by_world && times >= 2) {
      report(
          trails, name, "reduced twice", Status::kFail,
          fmt::format("gets {:.2f} x the mean over the world of {:.0f} as its gradient: reduced twice", factor, world),
          {equal ? "the gradients were equal on all ranks when backward() ended: they were reduced by then"
                 : "the gradients differed between the ranks when backward() ended",
           fmt::format("{} elements were reduced between backward() and the step, for {} elements of gradients",
                       reduced, elements)},
          "reduce each gradient once: by the wrapper's hooks or by hand", ranks);
      return;
    }
    // A sum over ranks, of losses that were divided by the tokens of all of them.
    if (factor == world && !equal) return;
    report(trails, name, "gradient scaled", Status::kInconclusive,
           fmt::format("gets {:.2f} x the gradient that backward() left{}", factor,
                       world > 1 ? ", in the mean over its replicas" : ""),
           {"something between backward() and the step multiplies it, or adds it twice; it may make up for a smaller "
            "loss"},
           "look for what adds to or scales gradients after backward()", ranks);
  }

  void report(const StepTrails& trails, const std::string& name, std::string kind, Status status, std::string words,
              std::vector<std::string> details, std::string next, std::vector<int> ranks) {
    Observation one;
    one.kind = std::move(kind);
    one.status = status;
    one.ranks.assign(ranks.begin(), ranks.end());
    one.step = trails.step->step;
    one.tensor = name;
    one.words = std::move(words);
    one.details = std::move(details);
    one.next = std::move(next);
    one.component = component_of(*trails.step);
    one.capture = trails.parameters.at(name).backward;
    into_.add(std::move(one));
  }

  CaptureLoader& loader_;
  Observations& into_;
  ReducedElements reduced_;
  LossRatios ratios_;
  std::vector<StepTrails> trails_;
  std::map<std::pair<std::int64_t, std::int64_t>, std::vector<const StepTrails*>> by_place_;
  std::map<std::pair<std::int64_t, std::string>, std::vector<std::vector<int>>> replicas_;
};

}  // namespace

void examine_gradient_scale(const Subject& subject, CaptureLoader& loader, const std::vector<CapturedStep>& steps,
                            Observations& into) {
  Examiner(subject, loader, steps, into).run();
}

}  // namespace plumbline::checks
