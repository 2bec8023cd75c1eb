#include "checks/replicas.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <utility>

#include "checks/gradient_trails.hpp"
#include "checks/observations.hpp"
#include "checks/optimizer_groups.hpp"
#include "checks/reduced_elements.hpp"
#include "checks/replica_buffers.hpp"
#include "checks/replica_data.hpp"
#include "checks/replica_sets.hpp"
#include "checks/template_words.hpp"
#include "checks/words.hpp"

namespace plumbline::checks {
namespace {

using StepKey = std::pair<std::int64_t, std::int64_t>;  // optimizer, step

// The same place in the capture of two ranks.
struct Pair {
  const CapturedStep* step_a = nullptr;
  const CapturedStep* step_b = nullptr;
  const CapturedParameter* a = nullptr;
  const CapturedParameter* b = nullptr;
  int rank_a = -1, rank_b = -1;
};

std::vector<double> difference(CaptureLoader& loader, const Capture* a, const Capture* b) {
  std::vector<double> x = loader.values(a);
  const std::vector<double> y = loader.values(b);
  if (x.size() != y.size()) return {};
  for (std::size_t i = 0; i < x.size(); ++i) x[i] -= y[i];
  return x;
}

double largest(const std::vector<double>& values) {
  double most = 0;
  for (const double value : values) most = std::max(most, std::fabs(value));
  return most;
}

class ReplicaCheck {
 public:
  explicit ReplicaCheck(const Subject& subject)
      : subject_(subject), loader_(subject.captures()), steps_(captured_steps(subject.captures())), reduced_(subject) {
    for (StepTrails& trails : gradient_trails(subject.captures(), steps_))
      trails_.emplace(trails.step, std::move(trails));
  }

  Verdict run() {
    Verdict verdict;
    verdict.check = "replicas";
    const bool messages = passes_messages();
    const ReplicaSets found = replica_sets(steps_, loader_, template_replicas(subject_, verdict.unknown));
    const std::vector<ReplicaSet>& sets = found.sets;
    verdict.unknown.insert(verdict.unknown.end(), found.remarks.begin(), found.remarks.end());
    for (const CapturedStep& step : steps_) by_place_[{step.ordinal, step.step}][step.rank] = &step;
    std::size_t compared = 0;
    for (const ReplicaSet& set : sets) compared += follow(set, messages);
    for (const ReplicaSet& set : sets) settings(set, messages);
    const std::vector<BatchSet> sharers = sharers_of_batch(steps_, sets);
    const DataSeen data = examine_data(subject_, loader_, sharers, observations_);
    const std::size_t buffers = examine_buffers(steps_, loader_, sharers, observations_);
    verdict.findings = observations_.findings(subject_);
    conclude(verdict, sets.size(), compared, buffers, data);
    return verdict;
  }

 private:
  // Stages of a pipeline send to each other, and may hold different layers under the same names.
  bool passes_messages() const {
    for (const reader::TraceSummary& summary : subject_.summaries()) {
      for (const reader::GroupActivity& group : summary.groups) {
        if (group.point_to_point > 0) return true;
      }
    }
    return false;
  }

  static Status status_of(const ReplicaSet& set, bool messages) {
    const bool said = set.evident == Evident::kDeclared || set.evident == Evident::kTemplate;
    return said || !messages ? set.status : Status::kInconclusive;
  }

  // The first step at which they differ, and how; the number of captures that were compared.
  std::size_t follow(const ReplicaSet& set, bool messages) {
    std::size_t compared = 0;
    std::vector<double> first_difference;
    bool first = true;
    for (const auto& [place, ranks] : by_place_) {
      if (place.first != set.ordinal) continue;
      const CapturedStep* leader = nullptr;
      std::vector<Pair> pairs;
      for (const int rank : set.ranks) {
        const auto at = ranks.find(rank);
        if (at == ranks.end()) continue;
        if (leader == nullptr) {
          leader = at->second;
          continue;
        }
        const CapturedParameter* a = leader->find(set.name);
        const CapturedParameter* b = at->second->find(set.name);
        if (a != nullptr && b != nullptr) pairs.push_back({leader, at->second, a, b, leader->rank, rank});
      }
      for (const Pair& pair : pairs) {
        ++compared;
        if (diverges(set, pair, first, messages)) return compared;
      }
      first = first && pairs.empty();
    }
    return compared;
  }

  bool diverges(const ReplicaSet& set, const Pair& pair, bool first, bool messages) {
    const Likeness before = compare(loader_, pair.a->param.before, pair.b->param.before);
    if (before == Likeness::kDifferent) {
      differs_before(set, pair, first, messages);
      return true;
    }
    if (const Likeness grads = compare(loader_, pair.a->grad, pair.b->grad); grads == Likeness::kDifferent) {
      differs_by_gradient(set, pair, messages);
      return true;
    }
    if ((pair.a->grad == nullptr) != (pair.b->grad == nullptr)) {
      const int without = pair.a->grad == nullptr ? pair.rank_a : pair.rank_b;
      report(set, pair, "gradient missing", fmt::format("has no gradient on rank {}, and one on its replica", without),
             {}, "look at which ranks use the parameter, and whether its gradient is reduced", messages);
      return true;
    }
    for (const auto& [key, state] : pair.a->state) {
      const auto other = pair.b->state.find(key);
      if (other == pair.b->state.end()) continue;
      if (compare(loader_, state.before, other->second.before) != Likeness::kDifferent) continue;
      report(set, pair, "state", fmt::format("has equal values but another {} on its replicas before the step", key),
             {}, "look for optimizer state that was restored or reset on some ranks", messages);
      return true;
    }
    if (compare(loader_, pair.a->param.after, pair.b->param.after) == Likeness::kDifferent) {
      // Settings that differ are told by themselves.
      if (!other_settings(pair).empty()) return true;
      report(set, pair, "update", "differs between its replicas after the step, though all that goes into it is equal",
             {}, "look for settings or kernels that differ between the ranks", messages);
      return true;
    }
    return false;
  }

  void differs_before(const ReplicaSet& set, const Pair& pair, bool first, bool messages) {
    const std::vector<double> now = difference(loader_, pair.a->param.before, pair.b->param.before);
    std::vector<std::string> details;
    if (!now.empty())
      details.push_back(
          fmt::format("largest difference between ranks {} and {}: {:.4g}", pair.rank_a, pair.rank_b, largest(now)));
    if (!first) {
      report(set, pair, "changed between steps", "differs between its replicas since the step before", details,
             "look for what writes parameters outside of the optimizer on some ranks", messages);
      return;
    }
    const Likeness grads = compare(loader_, pair.a->grad, pair.b->grad);
    const std::string constant = stays(set, pair, now);
    if (grads == Likeness::kEqual) details.emplace_back("gradients are equal: the ranks' models get the same updates");
    if (grads == Likeness::kDifferent) details.emplace_back("gradients differ as well");
    if (!constant.empty()) details.push_back(constant);
    report(set, pair, "initial", "differs between its replicas before the first captured step: they began apart",
           details, "seed the initialisation alike on all ranks, or broadcast the parameters before training",
           messages);
  }

  // The parameter of a set as two of its ranks have it in another step; null where one has not.
  static std::pair<const CapturedParameter*, const CapturedParameter*> both_at(
      const std::map<int, const CapturedStep*>& ranks, const ReplicaSet& set, const Pair& pair) {
    const auto of = [&](int rank) -> const CapturedParameter* {
      const auto at = ranks.find(rank);
      return at == ranks.end() ? nullptr : at->second->find(set.name);
    };
    return {of(pair.rank_a), of(pair.rank_b)};
  }

  // Whether the difference of the first step is still the same at the last one.
  std::string stays(const ReplicaSet& set, const Pair& pair, const std::vector<double>& then) {
    for (auto at = by_place_.rbegin(); at != by_place_.rend(); ++at) {
      if (at->first.first != set.ordinal || at->first.second <= pair.step_a->step) continue;
      const auto [a, b] = both_at(at->second, set, pair);
      if (a == nullptr || b == nullptr) continue;
      const std::vector<double> now = difference(loader_, a->param.after, b->param.after);
      if (now.size() != then.size() || now.empty()) continue;
      double moved = 0;
      for (std::size_t i = 0; i < now.size(); ++i) moved = std::max(moved, std::fabs(now[i] - then[i]));
      if (moved <= 1e-3 * largest(then))
        return fmt::format(
            "the difference is the same after step {}: it was there from the start, and nothing adds to it",
            at->first.second);
      return fmt::format("the difference has changed by up to {:.4g} by step {}", moved, at->first.second);
    }
    return {};
  }

  void differs_by_gradient(const ReplicaSet& set, const Pair& pair, bool messages) {
    const std::vector<double> gap = difference(loader_, pair.a->grad, pair.b->grad);
    std::vector<std::string> details{"the parameter is equal before the step: this is where its replicas part"};
    if (!gap.empty())
      details.push_back(fmt::format("largest difference between the gradients of ranks {} and {}: {:.4g}", pair.rank_a,
                                    pair.rank_b, largest(gap)));
    const Capture* const unclipped_a = unclipped(*pair.step_a, pair.a->name);
    const Capture* const unclipped_b = unclipped(*pair.step_b, pair.b->name);
    if (compare(loader_, unclipped_a, unclipped_b) == Likeness::kEqual) {
      details.emplace_back("the gradients were equal before clipping");
      report(set, pair, "clipping", "was clipped by other factors on its replicas", details,
             "clip by the norm over all ranks", messages);
      return;
    }
    // Steps of the traces are those of the optimizer only where there is one.
    const bool one_optimizer =
        std::all_of(steps_.begin(), steps_.end(), [](const CapturedStep& step) { return step.ordinal == 0; });
    for (const int rank : {pair.rank_a, pair.rank_b}) {
      if (!one_optimizer) break;
      if (std::string sentence = reduced_.sentence(rank, pair.step_a->step); !sentence.empty())
        details.push_back(std::move(sentence));
    }
    if (one_optimizer) {
      for (std::string& sentence : reduced_.missing(set.ranks, pair.step_a->step, pair.a->grad->elements()))
        details.push_back(std::move(sentence));
    }
    const std::optional<std::int64_t> again = agree_again(set, pair);
    if (again)
      details.push_back(fmt::format(
          "they agree again before step {}: as where the ranks' models are averaged every few steps", *again));
    report(set, pair, "gradient", "has other gradients on its replicas: no collective made them equal before the step",
           details,
           "look for the all_reduce of this gradient: a skipped hook, no_sync in the last micro-batch, a "
           "parameter outside of the wrapper",
           again ? Status::kInconclusive : status_of(set, messages));
  }

  // The first step that two replicas begin alike after one that left them apart.
  std::optional<std::int64_t> agree_again(const ReplicaSet& set, const Pair& pair) {
    if (compare(loader_, pair.a->param.after, pair.b->param.after) != Likeness::kDifferent) return std::nullopt;
    for (auto at = by_place_.upper_bound({set.ordinal, pair.step_a->step}); at != by_place_.end(); ++at) {
      if (at->first.first != set.ordinal) break;
      const auto [a, b] = both_at(at->second, set, pair);
      if (a == nullptr || b == nullptr) continue;
      if (compare(loader_, a->param.before, b->param.before) == Likeness::kEqual) return at->first.second;
    }
    return std::nullopt;
  }

  // Null: it was not clipped.
  const Capture* unclipped(const CapturedStep& step, const std::string& name) const {
    const auto trails = trails_.find(&step);
    if (trails == trails_.end()) return nullptr;
    const auto trail = trails->second.parameters.find(name);
    return trail != trails->second.parameters.end() ? trail->second.unclipped : nullptr;
  }

  static std::string_view why_replica(Evident evident) {
    switch (evident) {
      case Evident::kDeclared:
        return "";
      case Evident::kTemplate:
        return "the template says that it is a replica";
      case Evident::kEqualGradients:
        return "the job does not declare it a replica; its gradient had the same bits on these ranks in a captured "
               "step";
      case Evident::kSameModel:
        return "the job does not declare it a replica; the ranks began with the same model";
      case Evident::kNorm:
        return "the job does not declare it a replica; it is a norm's, and these ranks have the gradients of another "
               "norm in common";
      case Evident::kEqualAtFirst:
        return "the job does not declare it a replica; the ranks held the same bits at the first captured step";
    }
    return "";
  }

  void report(const ReplicaSet& set, const Pair& pair, std::string kind, std::string words,
              std::vector<std::string> details, std::string next, bool messages) {
    report(set, pair, std::move(kind), std::move(words), std::move(details), std::move(next), status_of(set, messages));
  }

  void report(const ReplicaSet& set, const Pair& pair, std::string kind, std::string words,
              std::vector<std::string> details, std::string next, Status status) {
    Observation one;
    one.kind = std::move(kind);
    one.status = status;
    one.ranks = set.ranks;
    one.step = pair.step_a->step;
    one.tensor = set.name;
    one.words = std::move(words);
    one.details = std::move(details);
    if (const std::string_view why = why_replica(set.evident); !why.empty()) one.details.emplace_back(why);
    one.next = std::move(next);
    one.component = fmt::format("{}, replicas on {}", component_of(*pair.step_a), ranks_phrase(set.ranks));
    one.capture = pair.b->any();
    observations_.add(std::move(one));
  }

  // Learning rate and the other settings of the group that holds the parameter.
  void settings(const ReplicaSet& set, bool messages) {
    for (const auto& [place, ranks] : by_place_) {
      if (place.first != set.ordinal) continue;
      const CapturedStep* leader = nullptr;
      for (const int rank : set.ranks) {
        const auto at = ranks.find(rank);
        if (at == ranks.end()) continue;
        if (leader == nullptr) {
          leader = at->second;
          continue;
        }
        if (settings_differ(set, *leader, *at->second, messages)) return;
      }
    }
  }

  // Empty: they are the same.
  static std::string other_settings(const Pair& pair) {
    const CapturedStep& a = *pair.step_a;
    const CapturedStep& b = *pair.step_b;
    if (pair.a->group >= a.groups.size() || pair.b->group >= b.groups.size()) return {};
    const RuleSettings& x = a.groups[pair.a->group].settings;
    const RuleSettings& y = b.groups[pair.b->group].settings;
    if (x.lr != y.lr) return fmt::format("learning rate: {:g} on rank {}, {:g} on rank {}", x.lr, a.rank, y.lr, b.rank);
    if (x.weight_decay == y.weight_decay) return {};
    return fmt::format("weight decay: {:g} on rank {}, {:g} on rank {}", x.weight_decay, a.rank, y.weight_decay,
                       b.rank);
  }

  bool settings_differ(const ReplicaSet& set, const CapturedStep& a, const CapturedStep& b, bool messages) {
    const CapturedParameter* pa = a.find(set.name);
    const CapturedParameter* pb = b.find(set.name);
    if (pa == nullptr || pb == nullptr) return false;
    const Pair pair{&a, &b, pa, pb, a.rank, b.rank};
    const std::string which = other_settings(pair);
    if (which.empty()) return false;
    report(set, pair, "settings", "is updated with another " + which, {},
           "look for a schedule that some ranks step and others do not", messages);
    return true;
  }

  void conclude(Verdict& verdict, std::size_t sets, std::size_t compared, std::size_t buffers,
                const DataSeen& data) const {
    const bool fails = std::any_of(verdict.findings.begin(), verdict.findings.end(),
                                   [](const Finding& finding) { return finding.status == Status::kFail; });
    if (!verdict.findings.empty()) {
      verdict.status = fails ? Status::kFail : Status::kInconclusive;
      verdict.reason =
          fails ? "ranks that should agree do not, or the other way round" : "ranks may have to agree, and do not";
    } else if (compared > 0) {
      verdict.status = Status::kPass;
      verdict.reason =
          fmt::format("{} parameters agree bit by bit over their replicas, in {} comparisons", sets, compared);
      if (buffers > 0) verdict.reason += fmt::format("; {} buffers agree that do not depend on the batch", buffers);
      if (data.compared == 0) verdict.unknown.emplace_back("whether ranks see different data: none was captured");
      if (data.one_batch)
        verdict.unknown.emplace_back("whether ranks see different data: they read the same rows in every step");
    } else {
      verdict.reason = steps_.empty() ? "no optimizer step was captured" : "no captured tensor has a replica";
    }
  }

  const Subject& subject_;
  CaptureLoader loader_;
  std::vector<CapturedStep> steps_;
  ReducedElements reduced_;
  std::map<const CapturedStep*, StepTrails> trails_;
  std::map<StepKey, std::map<int, const CapturedStep*>> by_place_;
  Observations observations_;
};

}  // namespace

Verdict check_replicas(const Subject& subject) { return ReplicaCheck(subject).run(); }

}  // namespace plumbline::checks
