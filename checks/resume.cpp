// The state after a resume against the state at the save.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "checks/resume_optimizer.hpp"
#include "checks/state_checks.hpp"
#include "checks/state_compare.hpp"
#include "checks/state_parts.hpp"

namespace plumbline::checks {
namespace {

using reader::Checkpoint;
using reader::Scalar;
using reader::scalar_text;
using reader::Tensor;

constexpr std::string_view kName = "resume";
constexpr std::size_t kMostDetails = 12;

std::string top_of(std::string_view name) { return std::string(name.substr(0, name.find('.'))); }

class ResumeCheck {
 public:
  explicit ResumeCheck(const StateInputs& inputs) : subject_(*inputs.subject), reference_(*inputs.reference) {}

  Verdict verdict() {
    if (reference_.tensors.empty() && reference_.values.empty()) {
      return nothing_to_compare(std::string(kName), reference_, "holds no state to compare with.");
    }
    if (subject_.tensors.empty() && !subject_.problems.empty() && !reference_.tensors.empty()) {
      return nothing_to_compare(std::string(kName), subject_, "holds no state.");
    }
    find_missing_parts();
    add_moments();
    for (Finding& one : resume_group_findings(subject_, reference_)) findings_.push_back(std::move(one));
    add_parameters();
    add_random_tensors();
    add_values();
    for (const Checkpoint* side : {&subject_, &reference_}) add_damage(*side, "", findings_);
    return concluded(std::string(kName), std::move(findings_), pass_words());
  }

 private:
  // Whole parts, such as "scaler", that the resumed state lacks: one finding each, and no more about what is in them.
  // Of moments alone, as in what a load captured, there is more to tell.
  void find_missing_parts() {
    std::map<std::string, std::size_t> parts;
    std::set<std::string> mine;
    std::set<std::string> more_than_moments;
    for (const Tensor& tensor : subject_.tensors) mine.insert(top_of(tensor.name));
    for (const reader::NamedValue& one : subject_.values) mine.insert(top_of(one.name));
    for (const Tensor& tensor : reference_.tensors) {
      if (tensor.section_size != 0 && mine.count(top_of(tensor.name)) == 0) ++parts[top_of(tensor.name)];
      if (!state_key(tensor.name)) more_than_moments.insert(top_of(tensor.name));
    }
    for (const reader::NamedValue& one : reference_.values) {
      const bool nested = one.name.find('.') != std::string::npos;
      if (nested && mine.count(top_of(one.name)) == 0 && part_of_value(one.name) != Part::kOther)
        ++parts[top_of(one.name)];
      if (!state_key(one.name)) more_than_moments.insert(top_of(one.name));
    }
    for (const auto& [part, count] : parts) {
      if (!more_than_moments.contains(part)) continue;
      missing_.insert(part);
      findings_.push_back(
          fault(fmt::format("{} is not in the resumed state; the file has {} of it", part, count_of(count, "value")),
                {}, "load and save it with the rest"));
      open_where_damaged();
    }
  }

  // What is missing may be in the part that could not be read.
  void open_where_damaged() {
    if (!subject_.problems.empty()) findings_.back().status = Status::kInconclusive;
  }

  bool is_missing(std::string_view name) const { return missing_.count(top_of(name)) != 0; }

  void add_moments() {
    const bool lost = std::any_of(reference_.tensors.begin(), reference_.tensors.end(), [&](const Tensor& tensor) {
      return state_key(tensor.name) && is_missing(tensor.name);
    });
    if (lost) return;
    for (Finding& one : resume_moment_findings(subject_, reference_)) findings_.push_back(std::move(one));
  }

  void add_parameters() {
    std::vector<TensorPair> pairs;
    std::vector<std::string> missing;
    for (const Tensor& tensor : reference_.tensors) {
      if (part_of_tensor(tensor.name) != Part::kParameter || is_missing(tensor.name)) continue;
      if (const Tensor* mine = subject_.find(tensor.name); mine != nullptr) {
        pairs.emplace_back(mine, &tensor);
      } else {
        missing.push_back(tensor.name);
      }
    }
    const Comparison comparison = compare_all(subject_, reference_, pairs);
    for (Finding& one : findings_of(comparison, {"the resumed state", "the saved state"}, false)) {
      findings_.push_back(std::move(one));
    }
    if (missing.empty()) return;
    findings_.push_back(fault(fmt::format("{} of the saved state are not in the resumed one: {}",
                                          count_of(missing.size(), "tensor"), names_text(missing)),
                              missing, {}));
    open_where_damaged();
  }

  void add_random_tensors() {
    std::vector<std::string> details;
    for (const Tensor& tensor : reference_.tensors) {
      const Part part = part_of_tensor(tensor.name);
      if ((part != Part::kRandom && part != Part::kScaler) || is_missing(tensor.name)) continue;
      const Tensor* mine = subject_.find(tensor.name);
      if (mine != nullptr && equal_bits(*mine, tensor)) continue;
      details.push_back(tensor.name + (mine == nullptr ? " is absent" : " differs"));
    }
    if (details.empty()) return;
    findings_.push_back(
        fault(fmt::format("the random state is not that of the save: {}", details[0]), details,
              "restore the states of torch, CUDA, numpy and random: dropout and shuffling follow them"));
  }

  void add_values() {
    std::map<Part, std::vector<std::string>> details;
    for (const reader::NamedValue& theirs : reference_.values) {
      const Part part = part_of_value(theirs.name);
      if (part == Part::kGroup || part == Part::kOptimizerState || is_missing(theirs.name)) continue;
      const Scalar* mine = subject_.value(theirs.name);
      if (mine != nullptr && *mine == theirs.value) continue;
      if (theirs.name.find("log_history") != std::string::npos) continue;
      details[part].push_back(value_words(part, theirs, mine));
    }
    for (auto& [part, lines] : details) {
      std::string title = fmt::format("{} is not that of the save: {}", name_of(part), lines.front());
      if (part == Part::kOther)
        title = fmt::format("values differ of which it is not known whether they matter: {}", lines.front());
      if (lines.size() > 1) title += fmt::format(" and {} more", lines.size() - 1);
      if (lines.size() > kMostDetails) lines.resize(kMostDetails);
      Finding finding = fault(std::move(title), std::move(lines));
      if (part == Part::kOther) finding.status = Status::kInconclusive;
      findings_.push_back(std::move(finding));
    }
  }

  static std::string value_words(Part part, const reader::NamedValue& theirs, const Scalar* mine) {
    if (mine == nullptr) return theirs.name + " is absent";
    std::string words = fmt::format("{} is {} after the resume, {} at the save", theirs.name, scalar_text(*mine),
                                    scalar_text(theirs.value));
    const auto now = number_of(*mine);
    const auto saved = number_of(theirs.value);
    if (part == Part::kData && now && saved) {
      words += *now < *saved ? fmt::format(": {:g} are done twice", *saved - *now)
                             : fmt::format(": {:g} are never done", *now - *saved);
    }
    return words;
  }

  std::string pass_words() const {
    std::string words = count_of(reference_.tensors.size(), "tensor");
    if (!reference_.values.empty()) words += " and " + count_of(reference_.values.size(), "value");
    return words + " of the saved state are there again, bit for bit";
  }

  const Checkpoint& subject_;
  const Checkpoint& reference_;
  std::set<std::string> missing_;
  std::vector<Finding> findings_;
};

}  // namespace

Verdict check_resume(const StateInputs& inputs) { return ResumeCheck(inputs).verdict(); }

}  // namespace plumbline::checks
