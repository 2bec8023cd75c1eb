#include "checks/loss_scale.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "checks/batch_ranks.hpp"
#include "checks/detail.hpp"
#include "checks/gradient_unscale.hpp"
#include "checks/micro_batches.hpp"

namespace plumbline::checks {
namespace {

struct RankBatch {
  std::vector<const LossCall*> calls;
  std::vector<const Capture*> backward_calls;
  std::vector<MicroBatch> micro;
  std::vector<double> backward;
  std::map<std::uint32_t, double> tokens;  // that the model was given, by forward pass
  // What was computed in chunks or by micro-batches is one loss, unless there are more labels than tokens.
  bool several_losses() const {
    double labels = 0;
    for (const LossCall* call : calls) labels += static_cast<double>(call->rows);
    return labels > given();
  }
  double given() const {
    double sum = 0;
    for (const auto& [pass, count] : tokens) sum += count;
    return sum;
  }
  double total() const {
    double sum = 0;
    for (const double one : backward) sum += one;
    return sum;
  }
};

// A step of all ranks, and what the usual denominators would have given.
struct StepBatch {
  std::map<int, RankBatch> ranks;
  double used = 0;            // mean over ranks, as data parallelism averages gradients
  double right = 0;           // token mean over everything
  double mean_of_means = 0;   // of micro-batches
  double mean_of_chunks = 0;  // of the means of their chunks
  double mean_of_ranks = 0;   // of the ranks' token means
  double with_padding = 0;    // all tokens counted, supervised or not
  double bound = 0;           // relative to `right`
  std::size_t micro = 0;      // micro-batches a rank
  std::size_t chunks = 1;     // the most that one has
  bool several = false;       // losses of the same tokens, or it is not known how many tokens there are
  bool tokens_known = true;   // how many the model was given
  bool is_loss = true;        // see LossCall
};

double product(const std::vector<double>& factors) {
  double result = 1;
  for (const double factor : factors) result *= factor;
  return result;
}

bool power_of_two(double value) {
  int exponent = 0;
  return value > 0 && std::frexp(value, &exponent) == 0.5;
}

class ScaleExaminer {
 public:
  using Divisors = std::map<std::pair<int, std::int64_t>, double>;

  ScaleExaminer(CaptureLoader& loader, Divisors divisors, Observations& into)
      : loader_(loader), divisors_(std::move(divisors)), into_(into) {}

  // Token ids of a batch; the same ones may be captured at several places.
  void add_tokens(const Capture& ids) {
    double& of_pass = steps_[ids.step].ranks[ids.rank].tokens[ids.occurrence];
    of_pass = std::max(of_pass, static_cast<double>(ids.elements()));
  }

  void add(const LossCall& call) { steps_[call.step].ranks[call.rank].calls.push_back(&call); }
  void add_backward(const Capture& capture) {
    RankBatch& rank = steps_[capture.step].ranks[capture.rank];
    rank.backward_calls.push_back(&capture);
    // What backward() was given to multiply it by was not captured.
    if (Detail(capture.detail).flag("weighted")) return;
    const double value = loader_.number(&capture);
    if (std::isfinite(value)) rank.backward.push_back(value);
  }

  // Ranks that are in none of the sets of one batch are judged each by itself.
  ScaleCount examine(const std::vector<std::vector<int>>& sets) {
    for (auto& [step, all] : steps_) {
      std::set<int> left;
      for (auto& [rank, of_rank] : all.ranks) {
        of_rank.micro = micro_batches(of_rank.calls, of_rank.backward_calls);
        left.insert(rank);
      }
      for (const std::vector<int>& set : sets) {
        judge_some(step, all, set);
        for (const int rank : set) left.erase(rank);
      }
      for (const int rank : left) judge_some(step, all, {rank});
    }
    return count_;
  }

 private:
  // As many calls of backward as micro-batches on every rank, or a backward for all of them.
  static bool complete(const StepBatch& batch) {
    if (batch.ranks.empty()) return false;
    const std::size_t micro = batch.ranks.begin()->second.micro.size();
    return micro > 0 && std::all_of(batch.ranks.begin(), batch.ranks.end(), [&](const auto& one) {
             const RankBatch& rank = one.second;
             return rank.micro.size() == micro && !rank.backward.empty() &&
                    rank.backward.size() == rank.backward_calls.size();
           });
  }

  void judge_some(std::int64_t step, const StepBatch& all, const std::vector<int>& ranks) {
    StepBatch some;
    for (const int rank : ranks) {
      const auto at = all.ranks.find(rank);
      if (at == all.ranks.end()) return;
      some.ranks.insert(*at);
    }
    if (complete(some)) return judge(step, some);
    const bool trains = std::any_of(some.ranks.begin(), some.ranks.end(),
                                    [](const auto& one) { return !one.second.backward_calls.empty(); });
    count_.left += trains ? 1 : 0;
  }

  void judge(std::int64_t step, StepBatch& batch) {
    double sum = 0;
    double tokens = 0;
    double rows = 0;
    double bound = 0;
    for (auto& [rank, of_rank] : batch.ranks) {
      double rank_sum = 0;
      double rank_tokens = 0;
      for (const MicroBatch& micro : of_rank.micro) {
        rank_sum += micro.sum();
        rank_tokens += micro.supervised();
        rows += micro.rows();
        bound = std::max(bound, micro.bound());
        batch.mean_of_means += micro.mean();
        batch.mean_of_chunks += micro.mean_of_means();
        batch.chunks = std::max(batch.chunks, micro.chunks.size());
        for (const LossCall* chunk : micro.chunks) batch.is_loss = batch.is_loss && chunk->is_loss;
        ++batch.micro;
      }
      batch.several = batch.several || of_rank.several_losses();
      batch.tokens_known = batch.tokens_known && of_rank.given() > 0;
      if (rank_tokens > 0) batch.mean_of_ranks += rank_sum / rank_tokens;
      sum += rank_sum;
      tokens += rank_tokens;
      batch.used += of_rank.total();
    }
    const auto world = static_cast<double>(batch.ranks.size());
    if (tokens == 0 || sum == 0) return;
    ++count_.judged;
    batch.right = sum / tokens;
    batch.with_padding = sum / rows;
    batch.used /= world;
    batch.mean_of_means /= static_cast<double>(batch.micro);
    batch.mean_of_chunks /= static_cast<double>(batch.micro);
    batch.mean_of_ranks /= world;
    batch.micro /= batch.ranks.size();
    // Scaling and adding up micro-batches rounds a few times more.
    batch.bound = 4 * (bound / std::fabs(batch.right)) + 64 * 0x1p-24;
    if (close(batch, batch.used, batch.right)) return;
    // What the gradients are divided by again is no part of the loss.
    const double divisor = divisor_of(step, batch);
    if (close(batch, batch.used / divisor, batch.right)) return;
    const double undivided = batch.used;
    batch.used /= divisor;
    if (explain(step, batch, world, tokens, rows)) return;
    if (divisor < kLeastScale || !power_of_two(divisor)) batch.used = undivided;
    if (!explain(step, batch, world, tokens, rows)) tell_other(step, batch);
  }

  // The same on all ranks, or 1.
  double divisor_of(std::int64_t step, const StepBatch& batch) const {
    double common = 0;
    for (const auto& [rank, of_rank] : batch.ranks) {
      const auto at = divisors_.find({rank, step});
      if (at == divisors_.end() || (common != 0 && common != at->second)) return 1;
      common = at->second;
    }
    return common > 0 ? common : 1;
  }

  static bool close(const StepBatch& batch, double a, double b) {
    return std::fabs(a - b) <= batch.bound * std::max(std::fabs(a), std::fabs(b));
  }

  struct Factor {
    double value;
    std::string name;
  };

  // Tells of a denominator that is exactly this one.
  bool explain(std::int64_t step, const StepBatch& batch, double world, double tokens, double rows) {
    const auto micro = static_cast<double>(batch.micro);
    struct Denominator {
      double value;
      std::string kind;
      std::string words;
    };
    // The ranks' gradients are averaged: of a sum, that is a division by their number.
    const std::vector<Denominator> denominators{
        {batch.right, "", ""},
        {batch.with_padding, "padding counted",
         fmt::format("divided by all {:.0f} tokens rather than the {:.0f} supervised ones", rows, tokens)},
        {batch.mean_of_ranks, "mean by rank", "a mean of the ranks' means, which have different numbers of tokens"},
        {batch.mean_of_means, "mean by micro-batch",
         "a mean of the micro-batches' means, which have different numbers of tokens"},
        {batch.mean_of_chunks, "mean by chunk",
         "a mean of the means of chunks that a micro-batch is computed in, which have different numbers of tokens"},
        {batch.right * tokens / world, "sum", "a sum over tokens, with no denominator"},
    };
    std::vector<std::vector<Factor>> factors{{}};
    const auto chunks = static_cast<double>(batch.chunks);
    if (batch.chunks > 1) {
      factors.push_back({{chunks, "the number of chunks"}});
      if (batch.micro > 1)
        factors.push_back({{chunks, "the number of chunks"}, {micro, "the number of micro-batches"}});
    }
    if (batch.micro > 1) factors.push_back({{micro, "the number of micro-batches"}});
    if (world > 1) factors.push_back({{world, "the number of ranks"}});
    if (batch.micro > 1 && world > 1)
      factors.push_back({{micro, "the number of micro-batches"}, {world, "the number of ranks"}});
    for (const Denominator& denominator : denominators) {
      for (const auto& set : factors) {
        for (const bool inverse : {false, true}) {
          if (set.empty() && (inverse || denominator.kind.empty())) continue;
          std::vector<double> values;
          std::string names;
          for (const Factor& factor : set) {
            values.push_back(factor.value);
            names += (names.empty() ? "" : " and ") + factor.name;
          }
          const double factor = inverse ? 1 / product(values) : product(values);
          if (!close(batch, batch.used, denominator.value * factor)) continue;
          std::string words = "is ";
          if (!denominator.kind.empty()) words += denominator.words;
          if (!set.empty())
            words += fmt::format("{}{} by {}", denominator.kind.empty() ? "the mean over the supervised tokens " : ", ",
                                 inverse ? "divided" : "multiplied", names);
          report(step, batch,
                 fmt::format("{} {}{}", denominator.kind,
                             set.empty() ? ""
                             : inverse   ? "divided by "
                                         : "multiplied by ",
                             names),
                 words,
                 batch.several && (batch.chunks > 1 || batch.tokens_known) ? Status::kInconclusive : Status::kFail);
          return true;
        }
      }
    }
    return false;
  }

  void tell_other(std::int64_t step, const StepBatch& batch) {
    if (!batch.is_loss) {
      ++count_.other;
      return;
    }
    const double ratio = batch.used / batch.right;
    const double whole = std::round(ratio);
    if (whole > 1 && std::fabs(ratio - whole) <= batch.bound * whole) {
      if (whole >= kLeastScale && power_of_two(whole)) {
        report(step, batch, "scaled",
               fmt::format("is {:.0f} x the mean over the supervised tokens, as where a loss is scaled; that the "
                           "gradients are divided by it again was not seen",
                           whole),
               Status::kInconclusive);
        return;
      }
      report(step, batch, "factor", fmt::format("is {:.0f} x the mean over the supervised tokens", whole),
             Status::kFail);
      return;
    }
    report(step, batch, "other", "is not the mean over the supervised tokens; it may hold more than the cross-entropy",
           Status::kInconclusive);
  }

  void report(std::int64_t step, const StepBatch& batch, const std::string& kind, std::string words, Status status) {
    Observation one;
    one.kind = "scale " + kind;
    one.status = status;
    one.step = step;
    for (const auto& [rank, of_rank] : batch.ranks) one.ranks.push_back(rank);
    one.tensor = "the loss that backward() was called on";
    one.words = std::move(words);
    one.details.push_back(
        fmt::format("backward: {:.7g} over {} micro-batches{}; token mean: {:.7g}; ratio {:.4g}", batch.used,
                    batch.micro, batch.ranks.size() > 1 ? fmt::format(", mean of {} ranks", batch.ranks.size()) : "",
                    batch.right, batch.used / batch.right));
    const RankBatch& first = batch.ranks.begin()->second;
    if (first.backward.size() == 2 * first.calls.size())
      one.details.emplace_back("backward() was called twice as often as the loss was computed");
    one.details.emplace_back("gradients are larger or smaller by the same ratio");
    one.next =
        "divide the summed loss by the number of supervised tokens of the whole step; data parallelism already "
        "divides by the number of ranks";
    one.component = "loss";
    one.capture = first.calls.front()->loss;
    into_.add(std::move(one));
  }

  // Powers of two that are smaller are rather a mistake than a scale against underflow.
  static constexpr double kLeastScale = 16;

  CaptureLoader& loader_;
  Divisors divisors_;
  Observations& into_;
  ScaleCount count_;
  std::map<std::int64_t, StepBatch> steps_;
};

}  // namespace

ScaleCount examine_scale(const Subject& subject, CaptureLoader& loader, const std::vector<LossCall>& calls,
                         Observations& into) {
  const std::vector<CapturedStep> steps = captured_steps(subject.captures());
  ScaleExaminer examiner(loader, gradient_divisors(loader, gradient_trails(subject.captures(), steps)), into);
  // Evaluations between two steps are no micro-batches. Where no loss trains, a gradient comes by another way, such as
  // a recomputation in backward().
  std::set<std::pair<int, std::int64_t>> training;
  for (const LossCall& call : calls) {
    if (call.trains) training.emplace(call.rank, call.step);
  }
  std::set<int> ranks;
  for (const LossCall& call : calls) {
    if (call.trains || !training.contains({call.rank, call.step})) examiner.add(call);
    ranks.insert(call.rank);
  }
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

}  // namespace plumbline::checks
