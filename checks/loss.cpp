#include "checks/loss.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "checks/cross_entropy.hpp"
#include "checks/fused_head.hpp"
#include "checks/loss_labels.hpp"
#include "checks/loss_scale.hpp"
#include "checks/observations.hpp"

namespace plumbline::checks {
namespace {

// The captured calls of a loss function, each with its inputs.
std::vector<LossCall> loss_calls(const Subject& subject, CaptureLoader& loader,
                                 std::map<std::string, std::size_t>& why_not) {
  std::vector<LossCall> calls;
  const reader::RunCaptures& captures = subject.captures();
  for (const std::int64_t step : captures.steps()) {
    for (const Capture* hidden : captures.select("head.hidden", step)) {
      std::string why;
      if (auto call = recompute_head(loader, captures, *hidden, why)) {
        calls.push_back(std::move(*call));
      } else {
        ++why_not[why];
      }
    }
    for (const Capture* loss : captures.select("loss", step)) {
      std::string why;
      if (captures.find("head.hidden", step, loss->name, loss->rank, loss->occurrence) != nullptr) continue;
      const Capture* logits = captures.find("logits", step, loss->name, loss->rank, loss->occurrence);
      const Capture* labels = captures.find("labels", step, loss->name, loss->rank, loss->occurrence);
      if (auto call = recompute_loss(loader, *loss, logits, labels, why)) {
        calls.push_back(std::move(*call));
      } else {
        ++why_not[why];
      }
    }
  }
  return calls;
}

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
  if (call.supervised == 0 || call.reduction == "none") return;
  const auto tokens = static_cast<double>(call.supervised);
  const double expected = call.reduction == "sum" ? call.sum : call.mean();
  const double bound = call.reduction == "sum" ? call.bound * tokens : call.bound;
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

}  // namespace

Verdict check_loss(const Subject& subject, LossMargins& margins) {
  Verdict verdict;
  verdict.check = "loss";
  CaptureLoader loader(subject.captures());
  std::map<std::string, std::size_t> why_not;
  const std::vector<LossCall> calls = loss_calls(subject, loader, why_not);
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
  const ScaleCount scale = examine_scale(subject, loader, calls, observations);
  if (labels == 0) verdict.unknown.emplace_back("whether labels are shifted rightly: no token ids fit them");
  if (scale.judged == 0)
    verdict.unknown.emplace_back(
        "whether backward() was called on the mean: it was not captured, or with a factor of its own");
  if (scale.judged > 0 && scale.left > 0)
    verdict.unknown.push_back(
        fmt::format("whether backward() was called on the mean in {} more steps: it was given a factor of its own, or "
                    "what it was called on is made of other than the losses that were recomputed",
                    scale.left));
  if (scale.other > 0) {
    verdict.unknown.push_back(fmt::format(
        "whether the loss of {} steps is right: it is not the mean of the log-probabilities that it is made "
        "of, as where preferences are learned",
        scale.other));
  }
  verdict.findings = observations.findings(subject);
  const bool fails = std::any_of(verdict.findings.begin(), verdict.findings.end(),
                                 [](const Finding& finding) { return finding.status == Status::kFail; });
  if (fails) {
    verdict.status = Status::kFail;
    verdict.reason = "the loss is not the mean cross-entropy over the supervised tokens";
  } else if (!verdict.findings.empty()) {
    verdict.status = Status::kInconclusive;
    verdict.reason = "something about the loss may be no fault";
  } else if (std::all_of(calls.begin(), calls.end(), [](const LossCall& call) { return call.supervised == 0; })) {
    verdict.status = Status::kInconclusive;
    verdict.reason = "no captured loss has a supervised token: run-reader check data tells of its rows";
  } else if (scale.other > 0 && scale.other == scale.judged) {
    verdict.status = Status::kNotEvaluated;
    verdict.reason = fmt::format(
        "the log-probabilities of {} calls are right, to at most {:.2f} of the bound of rounding; what backward() was "
        "called on is no mean of them",
        calls.size(), margins.largest_agreeing);
  } else {
    verdict.status = Status::kPass;
    verdict.reason = fmt::format(
        "{} losses are the mean cross-entropy over the supervised tokens, to at most {:.2f} of "
        "the bound of rounding",
        calls.size(), margins.largest_agreeing);
  }
  return verdict;
}

Verdict check_loss(const Subject& subject) {
  LossMargins margins;
  return check_loss(subject, margins);
}

}  // namespace plumbline::checks
