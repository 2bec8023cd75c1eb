#include "checks/loss.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "checks/captured_losses.hpp"
#include "checks/loss_labels.hpp"
#include "checks/loss_scale.hpp"
#include "checks/loss_weights.hpp"
#include "checks/observations.hpp"

namespace plumbline::checks {
namespace {

Observation about(const LossCall& call) {
  Observation one;
  one.kind = "function";
  one.rank = call.rank;
  one.step = call.step;
  one.tensor = call.name.empty() ? "the loss" : call.name;
  one.component = "loss";
  one.capture = call.loss;
  return one;
}

void note_agreement(const LossCall& call, double ratio, LossMargins& margins) {
  margins.largest_agreeing = std::max(margins.largest_agreeing, ratio);
  margins.agreeing[call.step] = std::max(margins.agreeing[call.step], ratio);
}

void say_divides_by_all(const LossCall& call, Observation& one) {
  one.words = fmt::format("divides by all {} tokens, though only {} are supervised", call.rows, call.supervised);
  one.next = "divide by the number of labels that are not ignored";
}

// A fused head's own results.
void examine_head(const LossCall& call, LossMargins& margins, Observations& into) {
  if (call.excess <= 1) return note_agreement(call, call.excess, margins);
  Observation one = about(call);
  const double all_rows = call.expected * static_cast<double>(call.supervised) / static_cast<double>(call.rows);
  if (call.is_loss && call.rows != call.supervised &&
      std::fabs(call.reported - all_rows) * call.excess <= std::fabs(call.reported - call.expected)) {
    say_divides_by_all(call, one);
  } else {
    one.words = fmt::format("gives {:.7g} for a {}cross-entropy of {:.7g}", call.reported,
                            call.is_loss ? "" : "token's ", call.expected);
    one.next = "compare the fused head with a plain projection and cross-entropy of the same hidden states";
  }
  one.details.push_back(fmt::format("{} of {} labels are supervised; {:.3g} times the bound of rounding",
                                    call.supervised, call.rows, call.excess));
  into.add(std::move(one));
}

// The function's own result.
void examine_call(const LossCall& call, LossMargins& margins, Observations& into) {
  if (call.excess >= 0) return examine_head(call, margins, into);
  if (call.supervised == 0) return;
  const auto tokens = static_cast<double>(call.supervised);
  // Of the losses of tokens their sum is looked at.
  const bool is_mean = call.reduction == "mean";
  const double expected = is_mean ? call.mean() : call.sum;
  const double bound = is_mean ? call.bound : call.bound * tokens;
  const double ratio = std::fabs(call.reported - expected) / bound;
  if (ratio <= 1) return note_agreement(call, ratio, margins);
  Observation one = about(call);
  const double all_rows = call.sum / static_cast<double>(call.rows);
  if (call.rows != call.supervised && std::fabs(call.reported - all_rows) <= bound) {
    say_divides_by_all(call, one);
  } else {
    one.words = fmt::format("gives {:.7g} for a mean cross-entropy of {:.7g}", call.reported, expected);
    one.next = "compare the loss function with a plain cross-entropy on the same logits and labels";
  }
  one.details.push_back(
      fmt::format("{} of {} labels are supervised; bound of rounding {:.2g}", call.supervised, call.rows, bound));
  into.add(std::move(one));
}

void say_what_is_open(const ScaleCount& scale, Verdict& verdict) {
  if (scale.judged + scale.by_token == 0)
    verdict.unknown.emplace_back(
        "whether backward() was called on the mean: it was not captured, or with a factor of its own");
  if (scale.judged + scale.by_token > 0 && scale.left > 0)
    verdict.unknown.push_back(
        fmt::format("whether backward() was called on the mean in {} more steps: it was given a factor of its own, or "
                    "what it was called on is made of other than the losses that were recomputed",
                    scale.left));
  if (scale.other > 0)
    verdict.unknown.push_back(fmt::format(
        "whether the loss of {} steps is right: it is not the mean of the log-probabilities that it is made of, as "
        "where preferences are learned",
        scale.other));
  if (scale.by_token > 0)
    verdict.unknown.push_back(
        fmt::format("whether the loss of {} steps is right: each token has a weight of its own", scale.by_token));
}

// Once findings and what is open are known.
void conclude(const std::vector<LossCall>& calls, const ScaleCount& scale, double largest, Verdict& verdict) {
  const auto all = [&](const auto& of) { return std::all_of(calls.begin(), calls.end(), of); };
  const bool fails = std::any_of(verdict.findings.begin(), verdict.findings.end(),
                                 [](const Finding& finding) { return finding.status == Status::kFail; });
  if (fails) {
    verdict.status = Status::kFail;
    verdict.reason = "the loss is not the mean cross-entropy over the supervised tokens";
  } else if (!verdict.findings.empty()) {
    verdict.status = Status::kInconclusive;
    verdict.reason = "something about the loss may be no fault";
  } else if (all([](const LossCall& call) { return call.supervised == 0; })) {
    verdict.status = Status::kInconclusive;
    verdict.reason = "no captured loss has a supervised token: run-reader check data tells of its rows";
  } else if (scale.other > 0 && scale.other == scale.judged) {
    verdict.status = Status::kNotEvaluated;
    verdict.reason = fmt::format(
        "the log-probabilities of {} calls are right, to at most {:.2f} of the bound of rounding; what backward() was "
        "called on is no mean of them",
        calls.size(), largest);
  } else if (scale.judged == 0 && all([](const LossCall& call) { return call.reduction == "none"; })) {
    verdict.status = Status::kNotEvaluated;
    verdict.reason = fmt::format(
        "the losses of tokens that {} calls give are right, to at most {:.2f} of the bound of rounding; how they are "
        "put together {}",
        calls.size(), largest, scale.by_token > 0 ? "is the job's own weighting" : "is not known");
  } else {
    verdict.status = Status::kPass;
    verdict.reason = fmt::format(
        "{} losses are the mean cross-entropy over the supervised tokens, to at most {:.2f} of the bound of rounding",
        calls.size(), largest);
  }
}

}  // namespace

Verdict check_loss(const Subject& subject, LossMargins& margins) {
  Verdict verdict;
  verdict.check = "loss";
  CaptureLoader loader(subject.captures());
  std::map<std::string, std::size_t> why_not;
  std::vector<LossCall> calls = captured_losses(subject.captures(), loader, why_not);
  for (const auto& [why, count] : why_not) verdict.unknown.push_back(fmt::format("{} losses: {}", count, why));
  if (calls.empty()) {
    verdict.status = Status::kNotEvaluated;
    verdict.reason =
        why_not.empty() ? "no loss was captured" : "no captured loss could be recomputed: " + why_not.begin()->first;
    return verdict;
  }
  Observations observations;
  for (const LossCall& call : calls) {
    margins.bytes += call.logits->captured() * 4;
    examine_call(call, margins, observations);
  }
  const std::size_t labels = examine_labels(subject, loader, calls, observations);
  weigh_losses(loader, subject.captures(), calls);
  const ScaleCount scale = examine_scale(subject, loader, calls, observations);
  if (labels == 0) verdict.unknown.emplace_back("whether labels are shifted rightly: no token ids fit them");
  say_what_is_open(scale, verdict);
  verdict.findings = observations.findings(subject);
  conclude(calls, scale, margins.largest_agreeing, verdict);
  return verdict;
}

Verdict check_loss(const Subject& subject) {
  LossMargins margins;
  return check_loss(subject, margins);
}

}  // namespace plumbline::checks
