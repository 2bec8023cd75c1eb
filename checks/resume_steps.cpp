#include "checks/resume_steps.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>

#include "checks/replica_sets.hpp"
#include "checks/words.hpp"

namespace plumbline::checks {
namespace {

// A captured step by rank, optimizer and number.
using Steps = std::map<std::tuple<int, std::int64_t, std::int64_t>, const CapturedStep*>;

class Side {
 public:
  explicit Side(reader::RunCaptures& captures) : captures(captures), loader(captures), steps(captured_steps(captures)) {
    for (const CapturedStep& step : steps) by_place[{step.rank, step.ordinal, step.step}] = &step;
  }

  const CapturedStep* find(int rank, std::int64_t ordinal, std::int64_t step) const {
    const auto at = by_place.find({rank, ordinal, step});
    return at != by_place.end() ? at->second : nullptr;
  }

  reader::RunCaptures& captures;
  CaptureLoader loader;
  std::vector<CapturedStep> steps;
  Steps by_place;
};

// What differs first in a step.
struct Difference {
  std::string what;  // a clause
  std::string next;
  std::vector<std::string> names;
  std::vector<std::string> details;
};

class StepsCheck {
 public:
  StepsCheck(reader::RunCaptures& resumed, reader::RunCaptures& reference) : resumed_(resumed), reference_(reference) {}

  Verdict run() {
    Verdict verdict;
    verdict.check = "resume";
    if (resumed_.steps.empty() || reference_.steps.empty()) {
      verdict.reason = "no optimizer step was captured in both runs";
      return verdict;
    }
    const std::optional<std::int64_t> offset = align();
    if (!offset) {
      verdict.status = Status::kInconclusive;
      verdict.reason =
          "no captured step of the reference begins with the parameters or the step counter of the first resumed one";
      return verdict;
    }
    offset_ = *offset;
    std::size_t compared = 0;
    for (const std::int64_t step : resumed_.captures.steps()) {
      for (const auto& [place, mine] : resumed_.by_place) {
        if (std::get<2>(place) != step) continue;
        const CapturedStep* theirs = reference_.find(mine->rank, mine->ordinal, step + offset_);
        if (theirs == nullptr) continue;
        ++compared;
        if (auto difference = first_difference(*mine, *theirs)) verdict.findings.push_back(told(*mine, *difference));
      }
      // What comes later follows from it.
      if (!verdict.findings.empty()) break;
    }
    if (!verdict.findings.empty()) {
      verdict.status = Status::kFail;
      verdict.reason = verdict.findings.front().title;
    } else if (compared == 0) {
      verdict.status = Status::kInconclusive;
      verdict.reason = "the reference captured none of the resumed steps";
    } else {
      verdict.status = Status::kPass;
      verdict.reason =
          fmt::format("{} captured steps after the resume equal those of the reference bit for bit", compared);
    }
    return verdict;
  }

 private:
  Likeness alike(const Capture* mine, const Capture* theirs) {
    if (mine == nullptr || theirs == nullptr || mine->dtype != theirs->dtype || mine->shape != theirs->shape)
      return Likeness::kUnknown;
    if (mine->hash_kind != reader::CaptureHash::kNone && mine->hash_kind == theirs->hash_kind)
      return mine->hash == theirs->hash ? Likeness::kEqual : Likeness::kDifferent;
    if (mine->captured() == 0 || mine->indices != theirs->indices) return Likeness::kUnknown;
    return resumed_.loader.load(mine) == reference_.loader.load(theirs) ? Likeness::kEqual : Likeness::kDifferent;
  }

  std::optional<std::int64_t> align() {
    for (const bool by_counter : {false, true}) {
      for (const CapturedStep& mine : resumed_.steps) {
        if (mine.step != resumed_.captures.steps().front()) continue;
        for (const CapturedStep& theirs : reference_.steps) {
          if (theirs.rank != mine.rank || theirs.ordinal != mine.ordinal) continue;
          if (by_counter ? same_counter(mine, theirs) : same_parameters(mine, theirs)) return theirs.step - mine.step;
        }
      }
    }
    return std::nullopt;
  }

  bool same_parameters(const CapturedStep& mine, const CapturedStep& theirs) {
    std::size_t equal = 0;
    for (const CapturedParameter& one : mine.parameters) {
      const CapturedParameter* other = theirs.find(one.name);
      if (other == nullptr) continue;
      const Likeness likeness = alike(one.param.before, other->param.before);
      if (likeness == Likeness::kDifferent) return false;
      equal += likeness == Likeness::kEqual ? 1 : 0;
    }
    return equal > 0;
  }

  bool same_counter(const CapturedStep& mine, const CapturedStep& theirs) {
    for (const CapturedParameter& one : mine.parameters) {
      const CapturedParameter* other = theirs.find(one.name);
      const auto counter = one.state.find("step");
      if (other == nullptr || counter == one.state.end()) continue;
      const auto its = other->state.find("step");
      if (its == other->state.end()) continue;
      const double value = state_number(resumed_.captures, counter->second.before);
      return value > 0 && value == state_number(reference_.captures, its->second.before);
    }
    return false;
  }

  // Names of captures outside of an optimizer that differ in a step.
  std::vector<std::string> different(std::string_view probe, const CapturedStep& mine) {
    std::vector<std::string> names;
    for (const Capture* one : resumed_.captures.select(probe, mine.step, {}, mine.rank)) {
      const Capture* other =
          reference_.captures.find(probe, mine.step + offset_, one->name, mine.rank, one->occurrence);
      if (other == nullptr) continue;
      const bool same = one->shape == other->shape && alike(one, other) != Likeness::kDifferent;
      if (!same && std::find(names.begin(), names.end(), one->name) == names.end()) names.push_back(one->name);
    }
    return names;
  }

  template <class Get>
  std::vector<std::string> different_parameters(const CapturedStep& mine, const CapturedStep& theirs, const Get& get) {
    std::vector<std::string> names;
    for (const CapturedParameter& one : mine.parameters) {
      const CapturedParameter* other = theirs.find(one.name);
      if (other != nullptr && alike(get(one), get(*other)) == Likeness::kDifferent) names.push_back(one.name);
    }
    return names;
  }

  // Keys of the optimizer's state that differ, or are there on one side only.
  std::vector<std::string> different_state(const CapturedStep& mine, const CapturedStep& theirs,
                                           std::vector<std::string>& details) {
    std::map<std::string, std::size_t> absent, other_values;
    for (const CapturedParameter& its : theirs.parameters) {
      const CapturedParameter* one = mine.find(its.name);
      if (one == nullptr) continue;
      for (const auto& [key, state] : its.state) {
        if (state.before == nullptr) continue;
        const auto at = one->state.find(key);
        if (at == one->state.end() || at->second.before == nullptr) {
          ++absent[key];
        } else if (alike(at->second.before, state.before) == Likeness::kDifferent) {
          ++other_values[key];
        }
      }
    }
    std::vector<std::string> keys;
    for (const auto& [key, count] : absent) {
      keys.push_back(key);
      details.push_back(fmt::format("{} is absent before the step for {} parameters", key, count));
    }
    for (const auto& [key, count] : other_values) {
      if (!absent.contains(key)) keys.push_back(key);
      details.push_back(fmt::format("{} differs before the step for {} parameters", key, count));
    }
    return keys;
  }

  static std::vector<std::string> different_settings(const CapturedStep& mine, const CapturedStep& theirs) {
    std::vector<std::string> words;
    for (std::size_t i = 0; i < std::min(mine.groups.size(), theirs.groups.size()); ++i) {
      const RuleSettings& a = mine.groups[i].settings;
      const RuleSettings& b = theirs.groups[i].settings;
      if (a.lr != b.lr) words.push_back(fmt::format("learning rate of group {}: {:g}, reference {:g}", i, a.lr, b.lr));
      if (a.weight_decay != b.weight_decay)
        words.push_back(
            fmt::format("weight decay of group {}: {:g}, reference {:g}", i, a.weight_decay, b.weight_decay));
    }
    return words;
  }

  // How large the updates are next to the reference's: the middle one of the elements' ratios, by the groups' betas.
  std::vector<std::string> update_sizes(const CapturedStep& mine, const CapturedStep& theirs) {
    struct Sizes {
      std::set<std::size_t> groups;
      std::vector<double> ratios;
    };
    std::map<std::pair<double, double>, Sizes> by_betas;
    for (const CapturedParameter& one : mine.parameters) {
      const CapturedParameter* other = theirs.find(one.name);
      if (other == nullptr || !one.complete() || !other->complete()) continue;
      const RuleSettings settings = settings_of(mine, one);
      Sizes& sizes = by_betas[{settings.beta1, settings.beta2}];
      sizes.groups.insert(one.group);
      const std::vector<double> a = update(resumed_.loader, one);
      const std::vector<double> b = update(reference_.loader, *other);
      for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
        if (b[i] != 0) sizes.ratios.push_back(a[i] / b[i]);
      }
    }
    std::vector<std::string> words;
    for (auto& [betas, sizes] : by_betas) {
      std::vector<double>& ratios = sizes.ratios;
      if (ratios.empty()) continue;
      const auto middle = ratios.begin() + static_cast<std::ptrdiff_t>(ratios.size() / 2);
      std::nth_element(ratios.begin(), middle, ratios.end());
      const std::string where =
          by_betas.size() > 1 ? fmt::format(" of group {} (beta2 {:g})", fmt::join(sizes.groups, ","), betas.second)
                              : "";
      words.push_back(fmt::format("the update{} is {:.3f} times the reference's (the middle one of {} elements)", where,
                                  *middle, ratios.size()));
    }
    return words;
  }

  static RuleSettings settings_of(const CapturedStep& step, const CapturedParameter& parameter) {
    return parameter.group < step.groups.size() ? step.groups[parameter.group].settings : RuleSettings{};
  }

  // Adam's first update out of an empty state, decay aside: nine in ten elements move by the learning rate.
  bool moves_by_sign(const CapturedStep& mine) {
    std::size_t all = 0;
    std::size_t by_sign = 0;
    for (const CapturedParameter& one : mine.parameters) {
      if (!one.complete() || one.grad == nullptr) continue;
      const RuleSettings settings = settings_of(mine, one);
      const RawTensor raw = resumed_.loader.load(one.grad);
      const RawTensor from = resumed_.loader.load(one.param.before);
      std::vector<double> grad, before;
      raw.decode(0, raw.count(), grad);
      from.decode(0, from.count(), before);
      const std::vector<double> moved = update(resumed_.loader, one);
      if (grad.size() != moved.size()) continue;
      for (std::size_t i = 0; i < grad.size(); ++i) {
        if (grad[i] == 0) continue;
        const double by_rate = moved[i] + settings.lr * settings.weight_decay * before[i];
        ++all;
        by_sign += std::abs(by_rate + std::copysign(settings.lr, grad[i])) < 0.01 * settings.lr ? 1U : 0U;
      }
    }
    return all > 0 && by_sign * 10 >= all * 9;
  }

  static std::vector<double> update(CaptureLoader& loader, const CapturedParameter& one) {
    std::vector<double> before, after;
    const RawTensor from = loader.load(one.param.before);
    const RawTensor to = loader.load(one.param.after);
    from.decode(0, from.count(), before);
    to.decode(0, to.count(), after);
    if (before.size() != after.size()) return {};
    for (std::size_t i = 0; i < after.size(); ++i) after[i] -= before[i];
    return after;
  }

  std::optional<Difference> first_difference(const CapturedStep& mine, const CapturedStep& theirs) {
    if (auto names = different("input_ids", mine); !names.empty())
      return Difference{"reads other rows: the position in the data was not restored",
                        "restore the sampler's epoch and the rows already seen",
                        names,
                        {}};
    if (auto names = different_parameters(mine, theirs, [](const auto& one) { return one.param.before; });
        !names.empty())
      return Difference{"begins with other parameters", "look at what the load leaves out", names, {}};
    for (const std::string_view probe : {"logits", "loss"}) {
      if (auto names = different(probe, mine); !names.empty())
        return Difference{
            fmt::format("computes other {} from the same rows and parameters: the random state, or a mode", probe),
            "restore the random states; look at dropout and at train() and eval()",
            names,
            {}};
    }
    std::vector<std::string> details;
    if (auto names = different_parameters(mine, theirs, [](const auto& one) { return one.grad; }); !names.empty())
      return Difference{"computes other gradients, though the loss is the same or was not captured",
                        "look at the gradient scale, accumulation and clipping",
                        names,
                        {}};
    if (auto keys = different_state(mine, theirs, details); !keys.empty()) {
      for (std::string& sizes : update_sizes(mine, theirs)) details.push_back(std::move(sizes));
      const bool fresh = std::find(keys.begin(), keys.end(), "exp_avg_sq") != keys.end() && moves_by_sign(mine);
      return Difference{fmt::format("goes on from another state of the optimizer{}",
                                    fresh ? ": its first update is lr·sign(g), as of a new one" : ""),
                        "load the optimizer's state dict", keys, details};
    }
    if (auto words = different_settings(mine, theirs); !words.empty())
      return Difference{
          "uses other settings: " + words.front(), "restore the schedule, and step it as often", {}, words};
    if (auto names = different_parameters(mine, theirs, [](const auto& one) { return one.param.after; });
        !names.empty()) {
      for (std::string& sizes : update_sizes(mine, theirs)) details.push_back(std::move(sizes));
      return Difference{"updates otherwise, though gradients, state and settings are the same",
                        "look for settings or kernels that differ between the runs", names, details};
    }
    return std::nullopt;
  }

  Finding told(const CapturedStep& mine, const Difference& difference) const {
    Finding finding;
    finding.title = fmt::format("step {} (step {} of the reference), {}: {}", mine.step, mine.step + offset_,
                                ranks_phrase({mine.rank}), difference.what);
    finding.ranks = {mine.rank};
    finding.affected = finding.ranks;
    finding.details = difference.details;
    std::string names;
    for (std::size_t i = 0; i < std::min<std::size_t>(difference.names.size(), 6); ++i)
      names += (i > 0 ? ", " : "") + difference.names[i];
    if (difference.names.size() > 6) names += fmt::format(" and {} more", difference.names.size() - 6);
    if (!names.empty()) finding.details.push_back("first: " + names);
    finding.details.emplace_back("what is earlier in this step, and all before it that was captured, is equal");
    finding.next = difference.next;
    return finding;
  }

  Side resumed_;
  Side reference_;
  std::int64_t offset_ = 0;
};

}  // namespace

Verdict check_resumed_steps(reader::RunCaptures& resumed, reader::RunCaptures& reference) {
  return StepsCheck(resumed, reference).run();
}

Verdict joined_verdict(Verdict state, Verdict steps) {
  if (state.status == Status::kNotEvaluated) return steps;
  if (steps.status == Status::kNotEvaluated) return state;
  const auto rank = [](Status status) { return status == Status::kFail ? 2 : status == Status::kInconclusive ? 1 : 0; };
  const bool both_pass = state.status == Status::kPass && steps.status == Status::kPass;
  Verdict& worse = rank(steps.status) > rank(state.status) ? steps : state;
  Verdict& other = &worse == &state ? steps : state;
  if (both_pass) worse.reason += "; " + other.reason;
  worse.findings.insert(worse.findings.end(), other.findings.begin(), other.findings.end());
  worse.unknown.insert(worse.unknown.end(), other.unknown.begin(), other.unknown.end());
  return std::move(worse);
}

}  // namespace plumbline::checks
