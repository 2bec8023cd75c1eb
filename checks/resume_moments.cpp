#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "checks/resume_optimizer.hpp"
#include "checks/state_compare.hpp"
#include "checks/state_parts.hpp"
#include "checks/tensor_relation.hpp"

namespace plumbline::checks {
namespace {

using reader::Checkpoint;
using reader::DType;
using reader::Tensor;

constexpr std::size_t kMostDetails = 12;
constexpr std::array<double, 2> kUsualBetas = {0.9, 0.999};

// A step counter: a tensor of one element, or a plain number.
struct Counter {
  std::string name;
  double value = 0;
  std::optional<DType> dtype;
};

std::map<std::string, Counter> counters_of(const Checkpoint& checkpoint) {
  std::map<std::string, Counter> counters;
  for (const Tensor& tensor : checkpoint.tensors) {
    const auto key = state_key(tensor.name);
    const auto number = number_of(tensor);
    if (key && key->key == "step" && number) counters[tensor.name] = {tensor.name, *number, tensor.dtype};
  }
  for (const reader::NamedValue& one : checkpoint.values) {
    const auto key = state_key(one.name);
    const auto field = group_field(one.name);
    const bool is_step = (key && key->key == "step") || (field && field->field == "step");
    const auto number = number_of(one.value);
    if (is_step && number) counters[one.name] = {one.name, *number, std::nullopt};
  }
  return counters;
}

// The number after a cast to a narrow floating type.
double rounded(DType dtype, double number) {
  const auto value = static_cast<float>(number);
  std::byte bytes[8] = {};
  write_floats(dtype, {&value, 1}, bytes);
  return value_at(dtype, bytes, 0);
}

class MomentCheck {
 public:
  MomentCheck(const Checkpoint& subject, const Checkpoint& reference)
      : subject_(subject),
        reference_(reference),
        my_steps_(counters_of(subject)),
        their_steps_(counters_of(reference)) {}

  std::vector<Finding> findings() {
    std::vector<TensorPair> pairs;
    for (const Tensor& tensor : reference_.tensors) {
      const auto key = state_key(tensor.name);
      if (!key || key->key == "step" || tensor.bytes.empty()) continue;
      keys_.insert(std::string(key->key));
      const Tensor* mine = subject_.find(tensor.name);
      if (mine == nullptr) {
        if (!is_zero(tensor)) lost_.push_back(&tensor);
      } else {
        pairs.emplace_back(mine, &tensor);
      }
    }
    Comparison rest;
    Comparison all = compare_all(subject_, reference_, pairs);
    for (Compared& one : all.all) {
      if (one.relation.kind == Relation::kZero) {
        lost_.push_back(one.reference);
        zeroed_ = true;
      } else {
        rest.all.push_back(std::move(one));
      }
    }
    rest.unread = std::move(all.unread);
    if (!lost_.empty()) {
      add_lost();
    } else {
      add_steps();
    }
    add_narrow_steps();
    for (Finding& one : findings_of(rest, {"the resumed optimizer state", "the saved"}, false)) {
      findings_.push_back(std::move(one));
    }
    return std::move(findings_);
  }

 private:
  static bool is_zero(const Tensor& tensor) {
    return std::all_of(tensor.bytes.begin(), tensor.bytes.end(), [](std::byte one) { return one == std::byte{0}; });
  }

  // The betas of all groups: pairs that differ, in the order of the groups.
  static std::vector<std::array<double, 2>> betas_in(const Checkpoint& state) {
    std::map<std::pair<std::string, std::size_t>, std::array<double, 2>> groups;
    for (const reader::NamedValue& one : state.values) {
      const auto field = group_field(one.name);
      if (!field || !field->field.starts_with("betas.")) continue;
      const std::size_t index = field->field == "betas.0" ? 0 : 1;
      auto& group = groups.try_emplace({std::string(field->optimizer), field->group}, kUsualBetas).first->second;
      group[index] = number_of(one.value).value_or(group[index]);
    }
    std::vector<std::array<double, 2>> different;
    for (const auto& [place, betas] : groups) {
      if (std::find(different.begin(), different.end(), betas) == different.end()) different.push_back(betas);
    }
    return different;
  }

  // What the first update is times the right one, by the betas of the groups.
  std::string update_ratios(double saved, double resumed) const {
    std::vector<std::array<double, 2>> betas = betas_in(reference_);
    if (betas.empty()) betas = betas_in(subject_);
    if (betas.empty()) betas.push_back(kUsualBetas);
    std::string words;
    for (std::size_t i = 0; i < betas.size(); ++i) {
      words += i == 0 ? "" : i + 1 == betas.size() ? " or " : ", ";
      words += fmt::format("{:.3f}", update_ratio(saved, resumed, betas[i][0], betas[i][1]));
    }
    return words;
  }

  double most(const std::map<std::string, Counter>& counters) const {
    double value = 0;
    for (const auto& [name, counter] : counters) value = std::max(value, counter.value);
    return value;
  }

  // Moments that the file has and the resumed state has not: as when the template of the load came from a fresh
  // optimizer.
  void add_lost() {
    std::set<std::string> lost_keys;
    for (const Tensor* tensor : lost_) lost_keys.insert(std::string(state_key(tensor->name)->key));
    std::string keys;
    for (const std::string& key : lost_keys) keys += (keys.empty() ? "" : "/") + key;
    const double saved = most(their_steps_);
    const bool reset = saved > 0 && most(my_steps_) == 0;
    std::string title = fmt::format("after resume {} are {}", keys, zeroed_ ? "zero" : "absent");
    if (reset) title += my_steps_.empty() ? " and there is no step" : " and step=0";
    title += fmt::format(" while the file has them ({} of {}", lost_.size(), count_of(state_tensors(), "state tensor"));
    title += saved > 0 ? fmt::format(", step {:.0f})", saved) : ")";
    if (reset && keys_.count("exp_avg_sq") != 0) title += "; first update = lr·sign(g)";
    std::vector<std::string> details;
    for (const Tensor* tensor : lost_) {
      if (details.size() < kMostDetails) details.push_back(tensor->name);
    }
    findings_.push_back(
        fault(std::move(title), std::move(details),
              "load the optimizer's state dict whole; make the template of a sharded load from an optimizer "
              "that has state"));
  }

  std::size_t state_tensors() const {
    return static_cast<std::size_t>(
        std::count_if(reference_.tensors.begin(), reference_.tensors.end(), [](const Tensor& tensor) {
          const auto key = state_key(tensor.name);
          return key && key->key != "step";
        }));
  }

  // Counters that differ although the moments are there, grouped by what became of them.
  void add_steps() {
    std::map<std::string, std::vector<std::string>> by_title;
    for (const auto& [name, theirs] : their_steps_) {
      const auto mine = my_steps_.find(name);
      if (mine == my_steps_.end()) {
        by_title[fmt::format("step is absent after the resume, {:.0f} at the save", theirs.value)].push_back(name);
      } else if (mine->second.value != theirs.value) {
        by_title[step_words(theirs, mine->second)].push_back(name);
      }
    }
    for (const auto& [title, names] : by_title) {
      findings_.push_back(
          fault(fmt::format("{} ({})", title, count_of(names.size(), "parameter")),
                {names.begin(), names.begin() + static_cast<std::ptrdiff_t>(std::min(names.size(), kMostDetails))},
                "save and load step counters as they are, in float32 or as whole numbers"));
    }
  }

  std::string step_words(const Counter& theirs, const Counter& mine) const {
    for (const DType narrow : {DType::kBF16, DType::kF16}) {
      if (mine.value == rounded(narrow, theirs.value)) {
        return fmt::format("step went through {}: {:.0f} became {:.0f}", name_of(narrow), theirs.value, mine.value);
      }
    }
    std::string words = fmt::format("step is {:.0f} after the resume, {:.0f} at the save", mine.value, theirs.value);
    if (keys_.count("exp_avg_sq") != 0) {
      words += fmt::format("; with the moments kept, the first update is {} times the right one",
                           update_ratios(theirs.value, mine.value));
    }
    return words;
  }

  // A counter whose type cannot count any further, equal on both sides or not.
  void add_narrow_steps() {
    std::size_t count = 0;
    std::optional<Counter> worst;
    for (const auto& [name, counter] : their_steps_) {
      if (!counter.dtype || !is_floating(*counter.dtype) || *counter.dtype == DType::kF32) continue;
      if (counter.value < std::ldexp(1.0, precision_of(*counter.dtype))) continue;
      ++count;
      if (!worst || counter.value > worst->value) worst = counter;
    }
    if (!worst) return;
    const double last = std::ldexp(1.0, precision_of(*worst->dtype));
    findings_.push_back(
        fault(fmt::format(
                  "step is saved in {}, which holds whole numbers up to {:.0f} only: {:.0f} may have been rounded ({})",
                  name_of(*worst->dtype), last, worst->value, count_of(count, "parameter")),
              {fmt::format("{:.0f} is saved as {:.0f}", last + 1, rounded(*worst->dtype, last + 1))},
              "keep step counters in float32 when a state dict is cast"));
  }

  const Checkpoint& subject_;
  const Checkpoint& reference_;
  std::map<std::string, Counter> my_steps_;
  std::map<std::string, Counter> their_steps_;
  std::set<std::string> keys_;       // of the reference's state
  std::vector<const Tensor*> lost_;  // of the reference
  bool zeroed_ = false;
  std::vector<Finding> findings_;
};

}  // namespace

double update_ratio(double saved, double resumed, double beta1, double beta2) {
  const auto correction = [](double beta, double step) { return 1 - std::pow(beta, step + 1); };
  return correction(beta1, saved) / correction(beta1, resumed) *
         std::sqrt(correction(beta2, resumed) / correction(beta2, saved));
}

std::vector<Finding> resume_moment_findings(const Checkpoint& subject, const Checkpoint& reference) {
  return MomentCheck(subject, reference).findings();
}

}  // namespace plumbline::checks
