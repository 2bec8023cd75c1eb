#include "checks/optimizer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include "checks/clipping.hpp"
#include "checks/gradient_scale.hpp"
#include "checks/master_weights.hpp"
#include "checks/optimizer_capture.hpp"
#include "checks/optimizer_groups.hpp"
#include "checks/optimizer_own_faults.hpp"
#include "checks/optimizer_parameter.hpp"
#include "checks/schedules.hpp"
#include "checks/state_compare.hpp"
#include "reader/parallel.hpp"

namespace plumbline::checks {
namespace {

class OptimizerCheck {
 public:
  OptimizerCheck(const Subject& subject, OptimizerMargins& margins)
      : subject_(subject), loader_(subject.captures()), margins_(margins), steps_(captured_steps(subject.captures())) {}

  Verdict run() {
    Verdict verdict;
    verdict.check = "optimizer";
    if (steps_.empty()) {
      verdict.reason = "no optimizer step was captured";
      return verdict;
    }
    for (std::size_t first = 0; first < steps_.size();) {
      std::size_t end = first;
      while (end < steps_.size() && steps_[end].rank == steps_[first].rank && steps_[end].key == steps_[first].key &&
             steps_[end].ordinal == steps_[first].ordinal)
        ++end;
      const std::span<const CapturedStep> mine = std::span(steps_).subspan(first, end - first);
      for (std::string& name : without_gradient(mine)) {
        if (!examine_detached(mine, name, observations_)) without_gradient_.insert(std::move(name));
      }
      for (std::size_t i = first; i < end; ++i) step(steps_[i], i > first ? &steps_[i - 1] : nullptr);
      first = end;
    }
    examine_schedules(subject_, steps_, observations_, remarks_);
    examine_gradient_scale(subject_, loader_, steps_, observations_);
    examine_master_weights(subject_, loader_, steps_, observations_);
    examine_clipping(subject_, loader_, steps_, observations_, remarks_);
    conclude(verdict);
    return verdict;
  }

 private:
  // Others' optimizers of a name that PyTorch has, too, follow other formulas where these are more than an element by
  // itself: the Adafactor of transformers, the Muon of its inventor.
  static const Rule* rule_of(const CapturedStep& step) {
    const Rule* rule = rule_for(step.class_name);
    return rule != nullptr && !rule->elementwise && !step.of_torch() ? nullptr : rule;
  }

  void step(const CapturedStep& step, const CapturedStep* previous) {
    const ParameterContext context{&loader_, &step, previous, rule_of(step)};
    if (context.rule == nullptr) {
      unknown_classes_.insert(step.of_torch() ? step.class_name
                                              : fmt::format("{} of {}", step.class_name, step.module));
    }
    std::vector<ParameterExam> exams(step.parameters.size());
    reader::parallel_for(step.parameters.size(), 0,
                         [&](std::size_t i) { exams[i] = examine(context, step.parameters[i]); });
    UpdateShares shares;
    std::size_t empty = 0;
    std::size_t held = 0;
    for (std::size_t i = 0; i < exams.size(); ++i) {
      take(exams[i], context, step.parameters[i]);
      if (exams[i].recomputed && !exams[i].fused) shares[exams[i].dtype].add(exams[i].outcome);
      if (exams[i].recomputed && exams[i].fused) {
        // A fused kernel decays and updates in one rounding.
        ParameterOutcome outcome = exams[i].outcome;
        outcome.decaying = 0;
        shares[exams[i].dtype].add(outcome);
      }
      empty += exams[i].empty_moment ? 1 : 0;
      held += exams[i].held_moment ? 1 : 0;
    }
    examine_lost_updates(step, shares, observations_, lost_);
    if (previous == nullptr) {
      examine_decay(step, observations_);
      if (empty > 0 && held == 0) moments_empty(step, exams);
    }
  }

  void take(ParameterExam& exam, const ParameterContext& context, const CapturedParameter& parameter) {
    for (Observation& one : exam.observations) observations_.add(std::move(one));
    if (!exam.why_not.empty()) ++not_recomputed_[exam.why_not];
    if (!exam.recomputed) return;
    ++margins_.tensors;
    margins_.bytes += exam.bytes;
    double largest = exam.outcome.param.largest;
    for (const TensorOutcome& state : exam.outcome.state) largest = std::max(largest, state.largest);
    if (exam.outcome.agrees()) {
      margins_.largest_agreeing = std::max(margins_.largest_agreeing, largest);
      double& agreeing = margins_.agreeing[context.step->ordinal];
      agreeing = std::max(agreeing, largest);
      if (exam.outcome.leverage > leverage_) {
        leverage_ = exam.outcome.leverage;
        tested_ = {context.step, context.previous, &parameter, exam.outcome.leverage_place};
      }
    } else if (margins_.smallest_deviating == 0 || largest < margins_.smallest_deviating) {
      margins_.smallest_deviating = largest;
    }
  }

  void moments_empty(const CapturedStep& step, const std::vector<ParameterExam>& exams) {
    for (std::size_t i = 0; i < exams.size(); ++i) {
      if (!exams[i].empty_moment) continue;
      Observation one;
      one.kind = "state empty";
      one.rank = step.rank;
      one.step = step.step;
      one.tensor = step.parameters[i].name;
      one.words = fmt::format("has empty moments, though its step counter says {:g}", exams[i].counter);
      one.details = {"bias correction takes the moments for full: the first updates are too small"};
      one.next = "restore moments and step counter together";
      one.component = component_of(step);
      one.capture = step.parameters[i].any();
      observations_.add(std::move(one));
    }
  }

  void conclude(Verdict& verdict) {
    verdict.findings = observations_.findings(subject_);
    for (const std::string& name : unknown_classes_)
      verdict.unknown.push_back(fmt::format("updates of {}: its formula is not known", name));
    for (const auto& [why, count] : not_recomputed_)
      verdict.unknown.push_back(fmt::format("{} updates: {}", count, why));
    verdict.unknown.insert(verdict.unknown.end(), remarks_.begin(), remarks_.end());
    for (const auto& [place, remark] : lost_) verdict.unknown.push_back(remark);
    if (!without_gradient_.empty()) {
      verdict.unknown.push_back(
          fmt::format("whether {} is meant to get no gradient: each requires one and had none in any captured step",
                      names_text(std::vector(without_gradient_.begin(), without_gradient_.end()))));
    }
    const bool fails = std::any_of(verdict.findings.begin(), verdict.findings.end(),
                                   [](const Finding& finding) { return finding.status == Status::kFail; });
    if (fails) {
      verdict.status = Status::kFail;
      verdict.reason = "updates are not what gradient, state and settings give";
      if (margins_.smallest_deviating > 0 && margins_.tensors > 0)
        verdict.reason +=
            fmt::format(" (the least deviation is {:.3g} times its bound, those that agree are within {:.2f})",
                        margins_.smallest_deviating, margins_.largest_agreeing);
      return;
    }
    if (!verdict.findings.empty()) {
      verdict.status = Status::kInconclusive;
      verdict.reason = "something about the updates may be no fault";
      return;
    }
    if (margins_.tensors == 0) {
      verdict.status =
          unknown_classes_.empty() && not_recomputed_.empty() ? Status::kNotEvaluated : Status::kInconclusive;
      verdict.reason = "no captured update could be recomputed";
      return;
    }
    SelfTest caught;
    if (tested_.step != nullptr) {
      const ParameterContext context{&loader_, tested_.step, tested_.previous, rule_of(*tested_.step)};
      caught = self_test(context, *tested_.parameter, tested_.place);
    }
    verdict.status = caught.passed() ? Status::kPass : Status::kInconclusive;
    verdict.reason =
        caught.passed()
            ? fmt::format(
                  "{} updates are what gradient, state and settings give, to at most {:.2f} of the bound of "
                  "rounding; a wrong learning rate and a wrong element, put into a copy, were caught",
                  margins_.tensors, margins_.largest_agreeing)
            : fmt::format(
                  "{} updates agree, but a fault put into a copy was not caught: they are too small for "
                  "their dtype",
                  margins_.tensors);
  }

  struct Tested {
    const CapturedStep* step = nullptr;
    const CapturedStep* previous = nullptr;
    const CapturedParameter* parameter = nullptr;
    std::size_t place = 0;  // of its largest update, in bounds
  };

  const Subject& subject_;
  CaptureLoader loader_;
  OptimizerMargins& margins_;
  std::vector<CapturedStep> steps_;
  Observations observations_;
  std::set<std::string> unknown_classes_;
  std::set<std::string> remarks_;
  LossRemarks lost_;
  std::set<std::string> without_gradient_;
  std::map<std::string, std::size_t> not_recomputed_;
  double leverage_ = 0;
  Tested tested_;
};

}  // namespace

Verdict check_optimizer(const Subject& subject, OptimizerMargins& margins) {
  return OptimizerCheck(subject, margins).run();
}

Verdict check_optimizer(const Subject& subject) {
  OptimizerMargins margins;
  return check_optimizer(subject, margins);
}

}  // namespace plumbline::checks
