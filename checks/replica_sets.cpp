#include "checks/replica_sets.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "checks/gradient_classes.hpp"
#include "checks/name_pattern.hpp"
#include "checks/words.hpp"

namespace plumbline::checks {
namespace {

using RankPair = std::tuple<std::int64_t, int, int>;  // of an optimizer
constexpr std::size_t kMostNamed = 4;

bool within(const std::vector<int>& some, const std::vector<int>& all) {
  return std::includes(all.begin(), all.end(), some.begin(), some.end());
}

// "layers.0.attn" of layers.0.attn.q_norm.weight: what holds the module that owns the parameter.
std::string_view surroundings(std::string_view name) {
  for (int parts = 0; parts < 2; ++parts) {
    const std::size_t dot = name.rfind('.');
    name = name.substr(0, dot != std::string_view::npos ? dot : 0);
  }
  return name;
}

class ReplicaFinder {
 public:
  ReplicaFinder(const std::vector<CapturedStep>& steps, CaptureLoader& loader)
      : loader_(loader), held_(held_parameters(steps)), gradients_(steps, loader) {}

  ReplicaSets find(const std::vector<TemplateReplicas>& wanted) {
    for (const HeldParameter& one : held_) {
      if (by_template(one, wanted)) continue;
      if (!one.any().replicas.empty()) {
        declared(one);
      } else if (one.any().whole()) {
        Open open{&one, equal_at_first(loader_, one), gradients_.of(one)};
        count_agreement(open);
        open_.push_back(std::move(open));
      }
    }
    for (const Open& open : open_) by_gradient(open);
    same_models();
    for (const Open& open : open_) rest(open);
    if (!doubtful_.empty()) remark();
    return std::move(result_);
  }

 private:
  // What nobody declares.
  struct Open {
    const HeldParameter* parameter = nullptr;
    RankGroups equal;      // values at first
    RankGroups gradients;  // in some step
  };
  // Of two ranks: parameters whose gradients both have, and were ever equal; matrices, and those that began equal.
  struct Agreement {
    std::size_t gradients = 0, equal_gradients = 0, matrices = 0, equal_matrices = 0;
  };

  static bool is_matrix(const HeldParameter& one) { return one.any().shape.size() > 1; }
  static bool is_norm(const HeldParameter& one) {
    return one.holders.front().module.find("Norm") != std::string::npos && one.name.find("expert") == std::string::npos;
  }

  void add(const HeldParameter& one, const std::vector<int>& ranks, Evident evident, Status status = Status::kFail) {
    result_.sets.push_back({one.name, one.ordinal, ranks, evident, status});
  }

  bool by_template(const HeldParameter& one, const std::vector<TemplateReplicas>& wanted) {
    bool found = false;
    for (const TemplateReplicas& each : wanted) {
      if (!matches(each.pattern, one.name)) continue;
      found = true;
      for (const std::vector<int>& group : each.groups) {
        std::vector<int> there;
        for (const Holder& holder : one.holders) {
          if (std::find(group.begin(), group.end(), holder.rank) != group.end()) there.push_back(holder.rank);
        }
        if (there.size() > 1) add(one, there, Evident::kTemplate);
      }
    }
    return found;
  }

  void declared(const HeldParameter& one) {
    std::set<std::vector<int>> sets;
    for (const Holder& holder : one.holders) {
      std::vector<int> there;
      const auto& replicas = holder.first->replicas;
      for (const Holder& other : one.holders) {
        if (std::find(replicas.begin(), replicas.end(), other.rank) != replicas.end()) there.push_back(other.rank);
      }
      std::sort(there.begin(), there.end());
      if (there.size() > 1) sets.insert(there);
    }
    for (const auto& there : sets) add(one, there, Evident::kDeclared);
  }

  void count_agreement(const Open& open) {
    const bool any_gradient = gradients_.any(*open.parameter);
    const auto& holders = open.parameter->holders;
    for (auto a = holders.begin(); a != holders.end(); ++a) {
      for (auto b = std::next(a); b != holders.end(); ++b) {
        Agreement& agreement = agreements_[{open.parameter->ordinal, a->rank, b->rank}];
        const std::vector<int> both{a->rank, b->rank};
        const auto has = [&](const RankGroups& groups) {
          return std::any_of(groups.begin(), groups.end(), [&](const auto& group) { return within(both, group); });
        };
        agreement.gradients += any_gradient ? 1 : 0;
        agreement.equal_gradients += has(open.gradients) ? 1 : 0;
        agreement.matrices += is_matrix(*open.parameter) ? 1 : 0;
        agreement.equal_matrices += is_matrix(*open.parameter) && has(open.equal) ? 1 : 0;
      }
    }
  }

  // Whether ranks share most of their gradients: a shard or two may do so by a simple loss.
  bool share_gradients(std::int64_t ordinal, const std::vector<int>& ranks) const {
    return std::all_of(ranks.begin() + 1, ranks.end(), [&](int rank) {
      const Agreement& agreement = agreements_.at({ordinal, ranks.front(), rank});
      return agreement.equal_gradients * 4 >= agreement.gradients * 3;
    });
  }

  void by_gradient(const Open& open) {
    for (const std::vector<int>& ranks : open.gradients) {
      const bool began_equal =
          std::any_of(open.equal.begin(), open.equal.end(), [&](const auto& equal) { return within(ranks, equal); });
      if (!began_equal && !share_gradients(open.parameter->ordinal, ranks)) continue;
      add(*open.parameter, ranks, Evident::kEqualGradients);
      if (is_norm(*open.parameter)) norms_.emplace_back(open.parameter->ordinal, ranks);
      proven_.insert(open.parameter);
    }
  }

  // Ranks that began with the same model, and had none of their gradients in common.
  void same_models() {
    std::map<std::pair<std::int64_t, int>, std::vector<int>> models;  // by optimizer and first rank
    std::set<std::pair<std::int64_t, int>> taken;
    for (const auto& [pair, agreement] : agreements_) {
      const auto& [ordinal, a, b] = pair;
      if (agreement.matrices == 0 || agreement.equal_matrices < agreement.matrices) continue;
      if (agreement.equal_gradients > 0 || taken.contains({ordinal, a})) continue;
      std::vector<int>& ranks = models[{ordinal, a}];
      if (ranks.empty()) ranks.push_back(a);
      ranks.push_back(b);
      taken.insert({ordinal, b});
    }
    for (const auto& [place, ranks] : models) {
      for (const Open& open : open_) {
        if (open.parameter->ordinal != place.first || proven_.contains(open.parameter)) continue;
        if (open.equal.empty() || !within(ranks, open.equal.front())) continue;
        add(*open.parameter, ranks, Evident::kSameModel, Status::kInconclusive);
        proven_.insert(open.parameter);
      }
    }
  }

  void rest(const Open& open) {
    if (proven_.contains(open.parameter)) return;
    for (const std::vector<int>& ranks : open.equal) {
      const bool is_constant = constant(loader_, open.parameter->any());
      if (!gradients_.any(*open.parameter)) {
        if (!is_constant) add(*open.parameter, ranks, Evident::kEqualAtFirst, Status::kInconclusive);
      } else if (is_norm(*open.parameter)) {
        const std::int64_t ordinal = open.parameter->ordinal;
        if ((beside_equal_norms(ordinal, ranks) && !may_be_shard(open)) || no_matrix_is_shard(ordinal)) {
          add(*open.parameter, ranks, Evident::kNorm);
        } else {
          doubtful_.push_back(open.parameter);
        }
      } else if (!is_constant) {
        doubtful_.push_back(open.parameter);
      }
    }
  }

  bool beside_equal_norms(std::int64_t ordinal, const std::vector<int>& ranks) const {
    return std::any_of(norms_.begin(), norms_.end(),
                       [&](const auto& norm) { return norm.first == ordinal && within(ranks, norm.second); });
  }

  // Where every matrix is a replica, nothing is divided.
  bool no_matrix_is_shard(std::int64_t ordinal) const {
    std::size_t matrices = 0;
    for (const Open& open : open_) {
      if (open.parameter->ordinal != ordinal || !is_matrix(*open.parameter)) continue;
      if (!proven_.contains(open.parameter)) return false;
      ++matrices;
    }
    return matrices > 0;
  }

  // A norm over all heads is divided with the matrix that makes them, and is then as long as a side of it.
  bool may_be_shard(const Open& norm) const {
    const auto& shape = norm.parameter->any().shape;
    return std::any_of(open_.begin(), open_.end(), [&](const Open& open) {
      const HeldParameter& one = *open.parameter;
      return one.ordinal == norm.parameter->ordinal && is_matrix(one) && &one != norm.parameter &&
             !proven_.contains(&one) && surroundings(one.name) == surroundings(norm.parameter->name) &&
             !shape.empty() &&
             std::find(one.any().shape.begin(), one.any().shape.end(), shape[0]) != one.any().shape.end();
    });
  }

  void remark() {
    std::string names;
    for (std::size_t i = 0; i < std::min(doubtful_.size(), kMostNamed); ++i)
      names += (i > 0 ? ", " : "") + doubtful_[i]->name;
    if (doubtful_.size() > kMostNamed) names += fmt::format(" and {} more", doubtful_.size() - kMostNamed);
    result_.remarks.push_back(
        fmt::format("whether {} {} to be equal: the ranks began with the same values and never had the same gradient, "
                    "as shards or experts that were drawn from one seed do; a template's [replicas] can say",
                    names, doubtful_.size() == 1 ? "has" : "have"));
  }

  CaptureLoader& loader_;
  std::vector<HeldParameter> held_;
  GradientClasses gradients_;
  std::vector<Open> open_;
  std::map<RankPair, Agreement> agreements_;
  std::set<const HeldParameter*> proven_;
  std::vector<std::pair<std::int64_t, std::vector<int>>> norms_;  // optimizer, ranks that share a norm's gradient
  std::vector<const HeldParameter*> doubtful_;
  ReplicaSets result_;
};

}  // namespace

bool constant(CaptureLoader& loader, const Capture& capture) {
  const RawTensor tensor = loader.load(&capture);
  const std::size_t count = tensor.count();
  if (count < 2) return true;
  std::vector<double> values;
  tensor.decode(0, count, values);
  return std::all_of(values.begin(), values.end(), [&](double value) { return value == values.front(); });
}

Likeness compare(CaptureLoader& loader, const Capture* a, const Capture* b) {
  if (a == nullptr || b == nullptr || a->dtype != b->dtype || a->shape != b->shape) return Likeness::kUnknown;
  if (a->hash_kind != reader::CaptureHash::kNone && a->hash_kind == b->hash_kind)
    return a->hash == b->hash ? Likeness::kEqual : Likeness::kDifferent;
  if (a->captured() == 0 || a->captured() != b->captured() || a->indices != b->indices) return Likeness::kUnknown;
  return loader.load(a) == loader.load(b) ? Likeness::kEqual : Likeness::kDifferent;
}

ReplicaSets replica_sets(const std::vector<CapturedStep>& steps, CaptureLoader& loader,
                         const std::vector<TemplateReplicas>& wanted) {
  return ReplicaFinder(steps, loader).find(wanted);
}

}  // namespace plumbline::checks
