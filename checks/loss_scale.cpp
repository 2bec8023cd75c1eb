#include "checks/loss_scale.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "checks/batch_ranks.hpp"
#include "checks/captured_losses.hpp"
#include "checks/detail.hpp"
#include "checks/gradient_unscale.hpp"
#include "checks/loss_batch.hpp"
#include "checks/loss_denominators.hpp"
#include "checks/loss_weights.hpp"
#include "checks/own_reductions.hpp"

namespace plumbline::checks {
namespace {

// Powers of two that are smaller are rather a mistake than a scale against underflow.
constexpr double kLeastScale = 16;

bool power_of_two(double value) {
  int exponent = 0;
  return value > 0 && std::frexp(value, &exponent) == 0.5;
}

// By what gradients are divided between backward() and the step.
struct Divisors {
  std::map<std::pair<int, std::int64_t>, double> of_ranks;  // by rank and step
  std::map<std::int64_t, OwnReduction> own;                 // by step
};

class ScaleExaminer {
 public:
  ScaleExaminer(CaptureLoader& loader, Divisors divisors, Observations& into)
      : loader_(loader), divisors_(std::move(divisors)), into_(into) {}

  // Token ids of a batch; the same ones may be captured at several places.
  void add_tokens(const Capture& ids) {
    ForwardPass& pass = steps_[ids.step][ids.rank].passes[ids.occurrence];
    const auto tokens = static_cast<double>(ids.elements());
    if (tokens <= pass.tokens() || ids.shape.empty()) return;
    pass.length = static_cast<double>(ids.shape.back());
    pass.rows = tokens / pass.length;
  }

  void add(const LossCall& call) {
    steps_[call.step][call.rank].calls.push_back(&call);
    ranks_.insert(call.rank);
  }

  void add_backward(const Capture& capture) {
    RankLosses& rank = steps_[capture.step][capture.rank];
    rank.backward_calls.push_back(&capture);
    const Detail detail(capture.detail);
    rank.hooked = rank.hooked || detail.flag("hooked");
    // What backward() was given to multiply it by was not captured.
    if (detail.flag("weighted")) return;
    const double value = loader_.number(&capture);
    if (std::isfinite(value)) rank.backward.push_back(value);
  }

  // Ranks that are in none of the sets of one batch are judged each by itself.
  ScaleCount examine(const std::vector<std::vector<int>>& sets) {
    for (auto& [step, all] : steps_) {
      for (auto& [rank, of_rank] : all) {
        std::sort(of_rank.calls.begin(), of_rank.calls.end(),
                  [](const LossCall* a, const LossCall* b) { return a->loss->time_ns < b->loss->time_ns; });
        of_rank.micro = micro_batches(of_rank.calls, of_rank.backward_calls);
        if (!of_rank.micro.empty()) ++steps_of_micro_[of_rank.micro.size()];
      }
    }
    for (auto& [step, all] : steps_) {
      std::set<int> left;
      for (const auto& [rank, of_rank] : all) left.insert(rank);
      const auto judge_set = [&, step = step, &all = all](const std::vector<int>& set, std::optional<double> divisor) {
        if (!std::any_of(set.begin(), set.end(), [&](int rank) { return left.contains(rank); })) return;
        judge_some(step, all, set, divisor);
        for (const int rank : set) left.erase(rank);
      };
      if (const auto own = divisors_.own.find(step); own != divisors_.own.end())
        judge_set(own->second.ranks, 1 / own->second.factor);
      for (const std::vector<int>& set : sets) judge_set(set, std::nullopt);
      for (const int rank : std::set(left)) judge_set({rank}, std::nullopt);
    }
    return count_;
  }

 private:
  // `divisor` where it is known how the ranks' gradients come together.
  void judge_some(std::int64_t step, const std::map<int, RankLosses>& all, const std::vector<int>& ranks,
                  std::optional<double> divisor) {
    std::map<int, RankLosses> some;
    for (const int rank : ranks) {
      const auto at = all.find(rank);
      if (at == all.end()) return;
      some.insert(*at);
    }
    const bool trains =
        std::any_of(some.begin(), some.end(), [](const auto& one) { return !one.second.backward_calls.empty(); });
    const auto batch = measured(std::move(some));
    if (batch) {
      if (batch->tokens == 0 || batch->sum == 0) return;
      return divisor ? judge(step, *batch, *divisor, true) : judge(step, *batch, divisor_of(step, *batch), false);
    }
    count_.left += trains ? 1 : 0;
  }

  void judge(std::int64_t step, const LossBatch& batch, double divisor, bool exactly) {
    if (weights_of(batch) == LossWeight::Kind::kByToken) {
      ++count_.by_token;
      return;
    }
    ++count_.judged;
    if (batch.is_loss && !batch.several)
      for (const auto& [rank, of_rank] : batch.ranks) count_.ratios[{rank, step}] = batch.used / batch.right;
    if (weights_of(batch) == LossWeight::Kind::kByStretch) return tell_stretches(step, batch, batch.used / divisor);
    // What the gradients are divided by again is no part of the loss.
    if ((!exactly && batch.close(batch.used, batch.right)) || batch.close(batch.used / divisor, batch.right)) return;
    if (one_of_several_is_right(batch, divisor)) return;
    if (batch.weighed && batch.value &&
        (batch.close(*batch.value, batch.right) || batch.close(*batch.value / divisor, batch.right)))
      return tell_scaled_inside(step, batch);
    if (tell_short_window(step, batch, batch.used / divisor)) return;
    if (tell(step, batch, batch.used / divisor)) return;
    const bool as_it_was = !exactly && (divisor < kLeastScale || !power_of_two(divisor));
    const double used = as_it_was ? batch.used : batch.used / divisor;
    if (!tell(step, batch, used)) tell_other(step, batch, used);
  }

  // The same on all ranks, or 1.
  double divisor_of(std::int64_t step, const LossBatch& batch) const {
    double common = 0;
    for (const auto& [rank, of_rank] : batch.ranks) {
      const auto at = divisors_.of_ranks.find({rank, step});
      if (at == divisors_.of_ranks.end() || (common != 0 && common != at->second)) return 1;
      common = at->second;
    }
    return common > 0 ? common : 1;
  }

  // The most uneven that a loss has.
  static LossWeight::Kind weights_of(const LossBatch& batch) {
    LossWeight::Kind kind = LossWeight::Kind::kAlike;
    for (const auto& [rank, of_rank] : batch.ranks) {
      for (const LossCall* call : of_rank.calls) kind = std::max(kind, call->weight ? call->weight->kind : kind);
    }
    return kind;
  }

  // Of several heads one has the token mean; what the others weigh is the job's choice. Where nothing says how many
  // tokens there are, losses that differ in classes or weight are taken for heads, and those whose weights make up one,
  // as of mixed labels, for one loss.
  static bool one_of_several_is_right(const LossBatch& batch, double divisor) {
    if (!batch.weighed || !batch.several) return false;
    const std::size_t losses = batch.ranks.begin()->second.losses_a_token();
    bool right = false;
    bool alike = true;
    double all = 0;
    std::set<std::uint64_t> classes;
    for (std::size_t n = 0; n < losses; ++n) {
      const LossBatch one = only_nth_losses(batch, n);
      if (one.tokens <= 0 || one.right == 0) continue;
      right = right || one.close(one.used, one.right) || one.close(one.used / divisor, one.right);
      all += one.used / divisor / one.right;
      alike = alike && one.close(one.used, one.right);
      classes.insert(classes_of(*one.ranks.begin()->second.calls.front()));
    }
    if (batch.tokens_known) return right;
    return (right && (!alike || classes.size() > 1)) || batch.close(all, 1);
  }

  static std::uint64_t classes_of(const LossCall& call) {
    return call.logits == nullptr || call.rows == 0 ? 0 : call.logits->elements() / call.rows;
  }

  // The end of the data left fewer micro-batches to this step than it is divided by.
  bool tell_short_window(std::int64_t step, const LossBatch& batch, double used) {
    const auto usual = std::max_element(steps_of_micro_.begin(), steps_of_micro_.end(),
                                        [](const auto& a, const auto& b) { return a.second < b.second; });
    if (usual == steps_of_micro_.end() || batch.micro >= usual->first) return false;
    const double share = static_cast<double>(batch.micro) / static_cast<double>(usual->first);
    if (!batch.close(used, batch.right * share) && !batch.close(used, batch.mean_of_means * share)) return false;
    report(step, batch, used, "short window",
           fmt::format("is divided by {} micro-batches as in most steps, though this one has {}: its tokens count for "
                       "less",
                       usual->first, batch.micro),
           Status::kInconclusive, {},
           "divide by the number of micro-batches that the step has, or by the number of its tokens");
    return true;
  }

  bool tell(std::int64_t step, const LossBatch& batch, double used) {
    const auto found = explain_denominator(batch, used);
    if (!found) return false;
    std::vector<std::string> details;
    if (!found->reading.empty()) details.push_back(found->reading);
    report(step, batch, used, found->kind, found->words, found->status, std::move(details));
    return true;
  }

  void tell_stretches(std::int64_t step, const LossBatch& batch, double used) {
    const LossWeight* widest = nullptr;
    for (const auto& [rank, of_rank] : batch.ranks) {
      for (const LossCall* call : of_rank.calls) {
        if (call->weight && call->weight->kind == LossWeight::Kind::kByStretch && widest == nullptr)
          widest = &*call->weight;
      }
    }
    report(step, batch, used, "mean by stretch",
           "is a mean of the means of rows or documents, which have different numbers of tokens", Status::kInconclusive,
           {fmt::format("{} means; a token's weight goes from {:.4g} to {:.4g} times that of the token mean",
                        widest->stretches, widest->least * used / batch.used * batch.tokens / batch.world(),
                        widest->most * used / batch.used * batch.tokens / batch.world()),
            "it may be meant: each row or document then counts alike, and a token of a short one for more"});
  }

  void tell_scaled_inside(std::int64_t step, const LossBatch& batch) {
    report(step, batch, batch.used, "scaled inside",
           fmt::format("is the mean over the supervised tokens, but the gradient that its cross-entropy is given is "
                       "{:.4g} x as large",
                       batch.used / batch.right),
           Status::kInconclusive,
           {"a hook, or a function with a backward() of its own, scales it on its way: it may be meant"},
           "look for hooks on the loss and on what it is made of");
  }

  void tell_other(std::int64_t step, const LossBatch& batch, double used) {
    if (!batch.is_loss) {
      ++count_.other;
      return;
    }
    const double ratio = used / batch.right;
    const double whole = std::round(ratio);
    const bool is_whole = whole > 1 && std::fabs(ratio - whole) <= batch.bound * whole;
    if (is_whole && whole >= kLeastScale && power_of_two(whole)) {
      report(step, batch, used, "scaled",
             fmt::format("is {:.0f} x the mean over the supervised tokens, as where a loss is scaled; that the "
                         "gradients are divided by it again was not seen",
                         whole),
             Status::kInconclusive);
    } else if (is_whole && whole == static_cast<double>(ranks_.size())) {
      report(step, batch, used, "factor",
             fmt::format("is {:.0f} x the mean over the supervised tokens, as many as there are ranks", whole),
             Status::kFail);
    } else if (batch.weighed || is_whole) {
      report(
          step, batch, used, "weight", fmt::format("is {:.4g} x the mean over the supervised tokens", ratio),
          Status::kInconclusive,
          {"no denominator or number of ranks, micro-batches or chunks explains it: it may be a weight that is meant"});
    } else {
      report(step, batch, used, "other",
             "is not the mean over the supervised tokens; it may hold more than the cross-entropy",
             Status::kInconclusive);
    }
  }

  void report(std::int64_t step, const LossBatch& batch, double used, const std::string& kind, std::string words,
              Status status, std::vector<std::string> readings = {},
              std::string next =
                  "divide the summed loss by the number of supervised tokens of the whole step; data "
                  "parallelism already divides by the number of ranks") {
    Observation one;
    one.kind = "scale " + kind;
    one.status = status;
    one.step = step;
    for (const auto& [rank, of_rank] : batch.ranks) one.ranks.push_back(rank);
    one.tensor = "the loss that backward() was called on";
    one.words = std::move(words);
    one.details.push_back(
        fmt::format("{}: {:.7g} over {} micro-batches{}; token mean: {:.7g}; ratio {:.4g}",
                    batch.weighed ? "the cross-entropy's part in the gradients" : "backward", used, batch.micro,
                    batch.ranks.size() > 1 ? fmt::format(", mean of {} ranks", batch.ranks.size()) : "", batch.right,
                    used / batch.right));
    const RankLosses& first = batch.ranks.begin()->second;
    if (first.backward.size() == 2 * first.calls.size())
      one.details.emplace_back("backward() was called twice as often as the loss was computed");
    one.details.emplace_back("gradients are larger or smaller by the same ratio");
    for (std::string& reading : readings) one.details.push_back(std::move(reading));
    one.next = std::move(next);
    one.component = "loss";
    one.capture = first.calls.front()->loss;
    into_.add(std::move(one));
  }

  CaptureLoader& loader_;
  Divisors divisors_;
  Observations& into_;
  ScaleCount count_;
  std::map<std::int64_t, std::map<int, RankLosses>> steps_;
  std::map<std::size_t, std::size_t> steps_of_micro_;  // how many have so many micro-batches, over all ranks
  std::set<int> ranks_;
};

}  // namespace

ScaleCount examine_scale(const Subject& subject, CaptureLoader& loader, const std::vector<LossCall>& calls,
                         Observations& into) {
  const std::vector<CapturedStep> steps = captured_steps(subject.captures());
  const std::vector<StepTrails> trails = gradient_trails(subject.captures(), steps);
  ScaleExaminer examiner(loader, {gradient_divisors(loader, trails), own_reductions(loader, steps, trails)}, into);
  const std::vector<const LossCall*> training = training_losses(calls);
  for (const LossCall* call : training) examiner.add(*call);
  std::set<int> ranks;
  for (const LossCall& call : calls) ranks.insert(call.rank);
  for (const std::int64_t step : subject.captures().steps()) {
    for (const Capture* ids : subject.captures().select("input_ids", step)) {
      if (ranks.contains(ids->rank)) examiner.add_tokens(*ids);
    }
    for (const Capture* capture : subject.captures().select("backward.loss", step)) {
      if (ranks.contains(capture->rank)) examiner.add_backward(*capture);
    }
  }
  return examiner.examine(batch_sets(steps));
}

std::map<std::pair<int, std::int64_t>, double> loss_ratios(const Subject& subject, CaptureLoader& loader) {
  std::map<std::string, std::size_t> why_not;
  std::vector<LossCall> calls = captured_losses(subject.captures(), loader, why_not);
  weigh_losses(loader, subject.captures(), calls);
  Observations observations;
  return examine_scale(subject, loader, calls, observations).ratios;
}

}  // namespace plumbline::checks
