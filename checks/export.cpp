// An exported checkpoint against the original.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "checks/export_settings.hpp"
#include "checks/state_checks.hpp"
#include "checks/state_compare.hpp"
#include "checks/tensor_names.hpp"
#include "checks/tied_tensors.hpp"
#include "checks/words.hpp"

namespace plumbline::checks {
namespace {

using reader::Checkpoint;
using reader::Tensor;
using Tensors = std::vector<const Tensor*>;

constexpr std::string_view kName = "export";
const Sides kSides{"the export", "the original"};

std::uint64_t bytes_of(const Tensors& tensors) {
  std::uint64_t sum = 0;
  for (const Tensor* tensor : tensors) sum += tensor->bytes.size();
  return sum;
}

class ExportCheck {
 public:
  explicit ExportCheck(const StateInputs& inputs)
      : subject_(*inputs.subject),
        reference_(*inputs.reference),
        mine_(parameters_of(subject_)),
        theirs_(parameters_of(reference_)) {}

  Verdict verdict() {
    if (theirs_.empty())
      return nothing_to_compare(std::string(kName), reference_, "holds no parameter to compare with.");
    match_ = match_names(mine_, theirs_);
    add_problems();
    if (!add_empty()) {
      comparison_ = compare_all(subject_, reference_, match_.pairs);
      for (Finding& one : findings_of(comparison_, kSides, false)) findings_.push_back(std::move(one));
      add_missing();
    }
    add_names();
    add_extra();
    for (Finding& one : export_settings_findings(subject_, reference_)) findings_.push_back(std::move(one));
    return concluded(std::string(kName), std::move(findings_), pass_words());
  }

 private:
  // Placeholders in place of tensors: one finding in place of many.
  bool add_empty() {
    const auto full = static_cast<std::size_t>(
        std::count_if(mine_.begin(), mine_.end(), [](const Tensor* one) { return !one->bytes.empty(); }));
    if (full * 2 > theirs_.size() || full * 2 > mine_.size() + 1) return false;
    const auto types = theirs_.front()->dtype;
    const std::string expected = fmt::format("expected about {} {}", bytes_text(bytes_of(theirs_)), name_of(types));
    const bool placeholders = full < mine_.size();
    std::string title =
        fmt::format("exported file: {} of {} have elements{}; {}, found {}", full, count_of(theirs_.size(), "tensor"),
                    placeholders ? " (shape [0])" : "", expected, bytes_text(bytes_of(mine_)));
    std::string next;
    if (placeholders) {
      title += "; as when one rank exports without a gather before it";
      next = "gather the parameters on all ranks first (ZeRO-3, FSDP: a full state dict), and let one rank write";
    }
    findings_.push_back(fault(std::move(title), {}, std::move(next)));
    return placeholders || mine_.empty();
  }

  void add_missing() {
    std::vector<std::string> dropped;
    for (const MissingTensor& one : explain_missing(subject_, reference_, match_.only_reference)) {
      const std::string& name = one.tensor->name;
      switch (one.kind) {
        case Missing::kAlias:
          break;
        case Missing::kUntied:
          findings_.push_back(fault(
              fmt::format(
                  "{} was dropped as tied to {}, but config.json says that it is not tied: a loader initialises it "
                  "anew",
                  name, one.twin->name),
              {}, "export it too, or set tie_word_embeddings to true"));
          break;
        case Missing::kNotAlias:
          findings_.push_back(fault(fmt::format("{} was dropped as if it were tied to {}, from which it differs in the "
                                                "original: a loader puts the embedding in its place",
                                                name, one.twin->name),
                                    {relate(*one.tensor, *one.twin).words}, "export it too"));
          break;
        case Missing::kDropped:
          dropped.push_back(name);
      }
    }
    if (dropped.empty()) return;
    findings_.push_back(fault(fmt::format("{} of the original's {} are missing in the export: {}", dropped.size(),
                                          count_of(theirs_.size(), "tensor"), names_text(dropped)),
                              dropped, "export them too"));
  }

  void add_names() {
    if (match_.pairs.empty() || (!match_.by_prefix() && !match_.wrapped)) return;
    std::string words = prefix_words(match_, "export", "original");
    if (words.empty()) {
      words = fmt::format("export keys carry the names of wrappers: {}", match_.pairs.front().first->name);
    }
    findings_.push_back(fault(
        words + ": a loader finds none of them",
        {fmt::format("{} is the original's {}", match_.pairs.front().first->name, match_.pairs.front().second->name)},
        "map the keys back before the export"));
  }

  void add_extra() {
    std::vector<std::string> extra;
    for (const Tensor* tensor : match_.only_subject) {
      // A head that is written out although the original shares it says the same.
      if (tensor->shape.size() >= 2 && same_bits(*tensor, mine_) != nullptr) continue;
      extra.push_back(tensor->name);
    }
    if (extra.empty()) return;
    findings_.push_back(fault(fmt::format("{} of the export are not in the original: {}",
                                          count_of(extra.size(), "tensor"), names_text(extra)),
                              extra, "merge adapters and leave out buffers before the export"));
  }

  void add_problems() {
    for (const reader::Problem& problem : subject_.problems) findings_.push_back(fault(problem.sentence));
    add_damage(reference_, "the original itself: ", findings_);
  }

  std::string pass_words() const {
    std::string text = fmt::format("all {} equal the original bit for bit ({})",
                                   count_of(comparison_.all.size(), "tensor"), bytes_text(bytes_of(mine_)));
    if (!match_.only_reference.empty()) {
      text += fmt::format("; {} is left out, being tied to another", names_text(match_.only_reference));
    }
    return text;
  }

  const Checkpoint& subject_;
  const Checkpoint& reference_;
  Tensors mine_;
  Tensors theirs_;
  NameMatch match_;
  Comparison comparison_;
  std::vector<Finding> findings_;
};

}  // namespace

Verdict check_export(const StateInputs& inputs) { return ExportCheck(inputs).verdict(); }

}  // namespace plumbline::checks
