#include "checks/clip_blocks.hpp"

#include <algorithm>
#include <cmath>

#include "checks/replica_sets.hpp"

namespace plumbline::checks {
namespace {

struct Holder {
  const ClipCall* call = nullptr;
  const Capture* grad = nullptr;
};

std::uint64_t product(const std::vector<std::uint64_t>& shape) {
  std::uint64_t result = 1;
  for (const std::uint64_t extent : shape) result *= extent;
  return result;
}

// By parameter: who was given which part of its gradient.
using Holders = std::map<std::string, std::vector<Holder>>;

Holders holders_of(const std::vector<const ClipCall*>& calls) {
  Holders holders;
  for (const ClipCall* call : calls) {
    for (const auto& [name, grad] : call->before) holders[name].push_back({call, grad});
  }
  return holders;
}

bool declared_replicas(const Holder& a, const Holder& b) {
  const auto& replicas = a.grad->replicas;
  return std::find(replicas.begin(), replicas.end(), b.call->rank) != replicas.end();
}

// Replicas that the job declares, or that hold the same values: what differs then is a gradient before its reduction.
bool same_parameter(CaptureLoader& loader, const std::string& name, const Holder& a, const Holder& b) {
  const CapturedParameter* x = a.call->step->find(name);
  const CapturedParameter* y = b.call->step->find(name);
  if (declared_replicas(a, b)) return true;
  return x != nullptr && y != nullptr && compare(loader, x->param.before, y->param.before) == Likeness::kEqual;
}

class Gatherer {
 public:
  Gatherer(CaptureLoader& loader, double norm_type) : loader_(loader), norm_type_(norm_type) {}

  // The blocks of one parameter; false when some of it is missing.
  bool gather(const std::string& name, const std::vector<Holder>& holders, ClipBlocks& into) {
    std::vector<Holder> distinct;
    std::uint64_t elements = 0;
    for (const Holder& holder : holders) {
      if (holder.grad->elements() == 0) continue;
      bool known = false;
      for (const Holder& other : distinct) {
        if (other.grad->offset != holder.grad->offset || other.grad->shape != holder.grad->shape) continue;
        const Likeness likeness = compare(loader_, other.grad, holder.grad);
        known = known || likeness == Likeness::kEqual || declared_replicas(other, holder);
        if (likeness != Likeness::kDifferent) continue;
        if (same_parameter(loader_, name, other, holder)) {
          into.unreduced.push_back(name);
        } else {
          into.apart = true;
        }
      }
      if (known) continue;
      distinct.push_back(holder);
      elements += holder.grad->elements();
    }
    bool whole = holders.front().grad->whole() || elements == product(holders.front().grad->global_shape);
    for (const Holder& holder : distinct) {
      const auto norm = norm_of(loader_, holder.grad, norm_type_);
      whole = whole && norm.has_value();
      into.blocks.push_back({holder.grad, holder.call->rank, norm.value_or(0)});
    }
    return whole;
  }

  std::optional<double> local(const ClipCall& call) {
    std::vector<double> norms;
    for (const auto& [name, grad] : call.before) {
      const auto norm = norm_of(loader_, grad, norm_type_);
      if (!norm) return std::nullopt;
      norms.push_back(*norm);
    }
    return joined_norm(norms, norm_type_);
  }

 private:
  CaptureLoader& loader_;
  double norm_type_;
};

// Ranks that hold different parameters may be stages of one model, or models of their own.
bool same_names(const std::vector<const ClipCall*>& calls) {
  return std::all_of(calls.begin(), calls.end(), [&](const ClipCall* call) {
    return call->before.size() == calls.front()->before.size() &&
           std::equal(call->before.begin(), call->before.end(), calls.front()->before.begin(),
                      [](const auto& a, const auto& b) { return a.first == b.first; });
  });
}

}  // namespace

Applied ClipBlocks::applied(const std::map<int, double>& factors, double norm_type) const {
  std::vector<double> norms;
  double before = 0;
  double after = 0;
  double both = 0;
  for (const Block& block : blocks) {
    const auto factor = factors.find(block.rank);
    const double by = factor != factors.end() ? factor->second : 1;
    norms.push_back(by * block.norm);
    before += block.norm * block.norm;
    after += by * by * block.norm * block.norm;
    both += by * block.norm * block.norm;
  }
  // The direction is told by the Euclidean norms alone.
  const double cosine = norm_type == 2 && before > 0 && after > 0 ? both / std::sqrt(before * after) : std::nan("");
  return {joined_norm(norms, norm_type), cosine};
}

std::optional<double> ClipBlocks::norm_by(CaptureLoader& loader, double norm_type) const {
  std::vector<double> norms;
  for (const Block& block : blocks) {
    const auto one = norm_of(loader, block.grad, norm_type);
    if (!one) return std::nullopt;
    norms.push_back(*one);
  }
  return joined_norm(norms, norm_type);
}

ClipBlocks clip_blocks(CaptureLoader& loader, const std::vector<const ClipCall*>& calls) {
  ClipBlocks result;
  const double norm_type = calls.front()->norm_type;
  Gatherer gatherer(loader, norm_type);
  bool whole = true;
  for (const auto& [name, holders] : holders_of(calls)) {
    whole = gatherer.gather(name, holders, result) && whole;
    const bool sharded = !holders.front().grad->whole();
    if (holders.size() > 1 && (result.shared_name.empty() || (sharded && !result.sharded))) result.shared_name = name;
    result.sharded = result.sharded || sharded;
  }
  if (!result.sharded && !same_names(calls)) result.apart = true;
  if (whole) {
    std::vector<double> norms;
    for (const ClipBlocks::Block& block : result.blocks) norms.push_back(block.norm);
    result.norm = joined_norm(norms, norm_type);
  }
  for (const ClipCall* call : calls) {
    if (const auto local = gatherer.local(*call)) result.local_norms[call->rank] = *local;
  }
  return result;
}

}  // namespace plumbline::checks
