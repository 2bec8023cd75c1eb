#include "checks/clipping.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <tuple>

#include "checks/clip_blocks.hpp"
#include "checks/clip_calls.hpp"
#include "checks/optimizer_groups.hpp"
#include "checks/words.hpp"

namespace plumbline::checks {
namespace {

// "3 on rank 0, 4 on rank 1"
std::string by_rank(const std::map<int, double>& values) {
  constexpr std::size_t kMostNamed = 4;
  std::string text;
  std::size_t named = 0;
  for (const auto& [rank, value] : values) {
    if (named++ == kMostNamed) return text + " …";
    text += fmt::format("{}{:.4g} on rank {}", text.empty() ? "" : ", ", value, rank);
  }
  return text;
}

double coefficient(double max_norm, double norm) { return std::min(1.0, max_norm / (norm + 1e-6)); }

class Judge {
 public:
  Judge(CaptureLoader& loader, const std::vector<const ClipCall*>& calls, Observations& into,
        std::set<std::string>& remarks)
      : loader_(loader),
        calls_(calls),
        first_(*calls.front()),
        into_(into),
        remarks_(remarks),
        max_norm_(first_.max_norm) {}

  // Shards of one gradient get one factor, whatever it comes from; more cannot be said without max_norm.
  void run_by_hand() {
    std::vector<ClipCall> clipped;
    for (const ClipCall* call : calls_) clipped.push_back(as_clipped(*call));
    std::vector<const ClipCall*> pointers;
    pointers.reserve(clipped.size());
    for (const ClipCall& call : clipped) pointers.push_back(&call);
    ClipBlocks blocks = clip_blocks(loader_, pointers);
    if (!blocks.sharded || blocks.apart || !blocks.unreduced.empty()) return;
    take_factors(blocks);
    if (factors_.size() < calls_.size() || alike(factors_)) return;
    // Clipped by the norm of its own part, each is left with max_norm.
    std::map<int, double> left;
    for (const auto& [rank, factor] : factors_) {
      if (locals_.contains(rank) && factor < 1) left[rank] = locals_[rank];
    }
    undo(blocks);
    const bool one_norm = std::all_of(left.begin(), left.end(), [&](const auto& each) {
      return within(norm_tolerance_, each.second, left.begin()->second);
    });
    if (left.empty() || !one_norm) {
      report("gradient factor", blocks.shared_name,
             fmt::format("has its gradient multiplied by another factor per rank ({}), though the ranks hold shards of "
                         "one gradient",
                         by_rank(factors_)),
             {}, "look at what happens to gradients between backward() and the step");
      return;
    }
    max_norm_ = left.begin()->second;
    differs_by_rank(blocks);
  }

  void run() {
    if (!one_max_norm() || !(max_norm_ > 0)) return;
    const ClipBlocks blocks = clip_blocks(loader_, calls_);
    if (!blocks.unreduced.empty()) {
      before_reduction(blocks);
      return;
    }
    take_factors(blocks);
    if (factors_.empty()) return;
    if (blocks.apart) {
      parts_of_what(blocks);
    } else if (!alike(factors_)) {
      differs_by_rank(blocks);
    } else if (blocks.norm) {
      against(*blocks.norm, blocks);
    }
  }

 private:
  // Of the gradients that the step has, since they are there whole.
  static ClipCall as_clipped(const ClipCall& call) {
    ClipCall clipped = call;
    for (auto& [name, grad] : clipped.before) {
      if (const CapturedParameter* parameter = call.step->find(name); parameter != nullptr) grad = parameter->grad;
    }
    std::erase_if(clipped.before, [](const auto& one) { return one.second == nullptr; });
    return clipped;
  }

  // Norms of clipped gradients become those of what was clipped.
  void undo(ClipBlocks& blocks) {
    std::vector<double> norms;
    for (ClipBlocks::Block& block : blocks.blocks) norms.push_back(block.norm /= factors_.at(block.rank));
    if (blocks.norm) blocks.norm = joined_norm(norms, first_.norm_type);
    for (auto& [rank, norm] : locals_) norm /= factors_.at(rank);
  }

  void take_factors(const ClipBlocks& blocks) {
    for (const ClipCall* call : calls_) {
      const auto factor = clip_factor(loader_, *call);
      if (!factor) continue;
      factors_[call->rank] = *factor;
      if (blocks.local_norms.contains(call->rank)) locals_[call->rank] = blocks.local_norms.at(call->rank);
      tolerance_ = std::max(tolerance_, clip_tolerance(*call));
      norm_tolerance_ = std::max(norm_tolerance_, clip_norm_tolerance(*call));
    }
  }

  static bool within(double tolerance, double a, double b) {
    return std::fabs(a - b) <= tolerance * std::max(std::fabs(a), std::fabs(b));
  }
  bool close(double a, double b) const { return within(tolerance_, a, b); }
  // Is it the factor that a norm gives?
  bool comes_of(double factor, double norm) const {
    return within(norm_tolerance_, factor, coefficient(max_norm_, norm));
  }
  bool alike(const std::map<int, double>& values) const {
    return std::all_of(values.begin(), values.end(),
                       [&](const auto& one) { return close(one.second, values.begin()->second); });
  }

  bool one_max_norm() {
    std::map<int, double> values;
    for (const ClipCall* call : calls_) values[call->rank] = call->max_norm;
    const bool one = std::all_of(values.begin(), values.end(),
                                 [&](const auto& each) { return each.second == values.begin()->second; });
    if (!one && !std::isnan(values.begin()->second))
      report("clip max_norm", "", fmt::format("gradients are clipped to another max_norm by rank: {}", by_rank(values)),
             {}, "look at where the ranks read max_norm from");
    return one;
  }

  // Each rank's factor is what the norm of its own part gives.
  bool by_own_norm() const {
    return std::all_of(factors_.begin(), factors_.end(), [&](const auto& one) {
      const auto local = locals_.find(one.first);
      return local != locals_.end() && comes_of(one.second, local->second);
    });
  }

  void parts_of_what(const ClipBlocks& blocks) {
    if (alike(factors_) || !by_own_norm()) return;
    remarks_.insert(fmt::format(
        "whether {} hold parts of one model: each clips {} and what else it has by the norm of its own part ({})",
        ranks_phrase(ranks()), blocks.shared_name, by_rank(factors_)));
  }

  void differs_by_rank(const ClipBlocks& blocks) {
    std::string words = fmt::format(
        "has a clip coefficient that differs per rank ({}), though the ranks hold {} of one "
        "gradient",
        by_rank(factors_), blocks.sharded ? "shards" : "copies");
    std::vector<std::string> details;
    if (by_own_norm())
      details.push_back(fmt::format("each rank clips by the norm of its own {}: {}", blocks.sharded ? "shards" : "copy",
                                    by_rank(locals_)));
    if (blocks.norm) {
      const Applied applied = blocks.applied(factors_, first_.norm_type);
      words += fmt::format("; global norm {:.4g}, applied norm {:.4g} {} max_norm {:g}", *blocks.norm, applied.norm,
                           applied.norm > max_norm_ * (1 + norm_tolerance_) ? ">" : "<=", max_norm_);
      details.push_back(
          fmt::format("the coefficient for all is {:.4g}; as it was clipped, the gradient has another "
                      "direction too: cosine {:.3f}",
                      coefficient(max_norm_, *blocks.norm), applied.cosine));
    }
    report("clip coefficient", blocks.shared_name, words, details,
           "compute the norm over the shards of all ranks: clip_grad_norm_ of DTensors, or the method clip_grad_norm_ "
           "of FullyShardedDataParallel");
  }

  void against(double norm, const ClipBlocks& blocks) {
    const double expected = coefficient(max_norm_, norm);
    const double factor = factors_.begin()->second;
    if (!std::isfinite(norm) || comes_of(factor, norm)) return;
    std::string words;
    if (close(factor, 1)) {
      words = fmt::format("gradients of norm {:.4g} are not clipped, though max_norm is {:g}", norm, max_norm_);
    } else {
      words = fmt::format("gradients are clipped by {:.4g}, though norm {:.4g} and max_norm {:g} give {:.4g}", factor,
                          norm, max_norm_, expected);
    }
    std::vector<std::string> details{fmt::format("applied norm {:.4g}", factor * norm)};
    if (const std::string cause = cause_of(factor, norm, blocks); !cause.empty())
      details.insert(details.begin(), cause);
    report("clip norm", "", words, details, "look at which gradients the norm is taken of, and what it is divided by");
  }

  std::string cause_of(double factor, double norm, const ClipBlocks& blocks) const {
    const auto gives = [&](double other) { return comes_of(factor, other); };
    for (const auto& [rank, local] : locals_) {
      if (gives(local)) return fmt::format("it is what the norm of rank {}'s own part gives, {:.4g}", rank, local);
    }
    std::vector<double> parts;
    for (const auto& [rank, local] : locals_) parts.push_back(local);
    if (const double all = joined_norm(parts, first_.norm_type); parts.size() > 1 && gives(all))
      return fmt::format("it is what a norm with replicas counted on every rank gives, {:.4g}", all);
    if (gives(norm * norm)) return "it is what the square of the norm gives: the root is missing";
    for (const double type : {1.0, 2.0, HUGE_VAL}) {
      const auto other = type == first_.norm_type ? std::nullopt : blocks.norm_by(loader_, type);
      if (other && gives(*other)) return fmt::format("it is what the norm of type {:g} gives, {:.4g}", type, *other);
    }
    return close(factor, 1) ? "" : fmt::format("it is what max_norm {:.4g} gives", factor * norm);
  }

  // Replicas whose gradients still differ are not reduced yet. Clipped each by its own norm and then summed or
  // averaged, the result says so.
  void before_reduction(const ClipBlocks& blocks) {
    const std::string& name = blocks.unreduced.front();
    std::vector<const ClipCall*> with;
    for (const ClipCall* call : calls_) {
      if (call->before.contains(name) && blocks.local_norms.contains(call->rank)) with.push_back(call);
    }
    bool clips = false;
    std::map<int, double> norms;
    for (const ClipCall* call : with) {
      norms[call->rank] = blocks.local_norms.at(call->rank);
      clips = clips || coefficient(call->max_norm, norms[call->rank]) < 1;
    }
    if (!clips || with.size() < 2 || !is_sum_of_clipped(name, with, norms)) return;
    report("clip before reduction", name,
           fmt::format("is clipped on each rank by the norm of its own gradient ({}), before the ranks' gradients are "
                       "averaged",
                       by_rank(norms)),
           {}, "clip after the gradients are reduced");
  }

  bool is_sum_of_clipped(const std::string& name, const std::vector<const ClipCall*>& with,
                         const std::map<int, double>& norms) {
    std::vector<double> sum;
    for (const ClipCall* call : with) {
      const std::vector<double> values = loader_.values(call->before.at(name));
      sum.resize(std::max(sum.size(), values.size()));
      if (sum.size() != values.size()) return false;
      const double factor = coefficient(call->max_norm, norms.at(call->rank));
      for (std::size_t i = 0; i < values.size(); ++i) sum[i] += factor * values[i];
    }
    const CapturedParameter* parameter = first_.step->find(name);
    const std::vector<double> used = loader_.values(parameter != nullptr ? parameter->grad : nullptr);
    if (used.size() != sum.size()) return false;
    double largest = 0;
    for (const double one : sum) largest = std::max(largest, std::fabs(one));
    const double tolerance = clip_norm_tolerance(first_) * 4 * largest;
    for (const double share : {1.0, 1.0 / static_cast<double>(with.size())}) {
      bool all = true;
      for (std::size_t i = 0; i < sum.size() && all; ++i) all = std::fabs(used[i] - share * sum[i]) <= tolerance;
      if (all) return true;
    }
    return false;
  }

  std::vector<std::int32_t> ranks() const {
    std::vector<std::int32_t> all;
    for (const ClipCall* call : calls_) all.push_back(call->rank);
    return all;
  }

  void report(std::string kind, std::string tensor, std::string words, std::vector<std::string> details,
              std::string next) {
    Observation one;
    one.kind = std::move(kind);
    one.ranks = ranks();
    one.step = first_.step->step;
    one.tensor = std::move(tensor);
    one.words = std::move(words);
    one.details = std::move(details);
    one.next = std::move(next);
    one.component = component_of(*first_.step);
    one.capture = first_.note;
    into_.add(std::move(one));
  }

  CaptureLoader& loader_;
  const std::vector<const ClipCall*>& calls_;
  const ClipCall& first_;
  Observations& into_;
  std::set<std::string>& remarks_;
  double max_norm_;
  std::map<int, double> factors_;
  std::map<int, double> locals_;
  double tolerance_ = 0;
  double norm_tolerance_ = 0;
};

// The same call on all ranks.
std::vector<std::vector<const ClipCall*>> of_all_ranks(const std::vector<ClipCall>& calls) {
  std::map<std::tuple<std::int64_t, std::int64_t, std::size_t>, std::vector<const ClipCall*>> together;
  for (const ClipCall& call : calls) {
    if (!call.before.empty()) together[{call.step->ordinal, call.step->step, call.index}].push_back(&call);
  }
  std::vector<std::vector<const ClipCall*>> result;
  result.reserve(together.size());
  for (auto& [place, of_ranks] : together) result.push_back(std::move(of_ranks));
  return result;
}

}  // namespace

void examine_clipping(const Subject& subject, CaptureLoader& loader, const std::vector<CapturedStep>& steps,
                      Observations& into, std::set<std::string>& remarks) {
  const std::vector<ClipCall> calls = clip_calls(subject.captures(), steps);
  for (const auto& of_ranks : of_all_ranks(calls)) Judge(loader, of_ranks, into, remarks).run();
  const std::vector<ClipCall> by_hand = clips_by_hand(subject.captures(), steps, calls);
  for (const auto& of_ranks : of_all_ranks(by_hand)) Judge(loader, of_ranks, into, remarks).run_by_hand();
}

}  // namespace plumbline::checks
