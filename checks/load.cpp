// Parameters after a load against the original checkpoint.
#include <fmt/format.h>

#include <algorithm>

#include "checks/settings_compare.hpp"
#include "checks/state_checks.hpp"
#include "checks/state_compare.hpp"
#include "checks/tensor_names.hpp"
#include "checks/tied_tensors.hpp"

namespace plumbline::checks {
namespace {

using reader::Checkpoint;
using reader::Tensor;
using Tensors = std::vector<const Tensor*>;

constexpr std::string_view kName = "load";
const Sides kSides{"the module", "the file"};
constexpr std::size_t kMostDetails = 12;

// Does the relation say that the tensor has the file's values, in some order?
bool holds_values(Relation kind) {
  switch (kind) {
    case Relation::kEqual:
    case Relation::kCast:
    case Relation::kTruncated:
    case Relation::kRounded:
    case Relation::kReshaped:
    case Relation::kTransposed:
    case Relation::kRowsPermuted:
    case Relation::kColumnsPermuted:
    case Relation::kScaled:
      return true;
    default:
      return false;
  }
}

// Of a hash it is only known that it is another one.
bool may_be_fresh(const Compared& one) {
  return one.relation.kind == Relation::kUnrelated || one.relation.kind == Relation::kZero ||
         (one.relation.kind == Relation::kDiffers && one.subject->digest);
}

class LoadCheck {
 public:
  explicit LoadCheck(const StateInputs& inputs)
      : subject_(*inputs.subject),
        reference_(*inputs.reference),
        before_(inputs.before),
        unnamed_(inputs.unnamed),
        mine_(parameters_of(subject_)),
        theirs_(parameters_of(reference_)),
        match_(match_names(mine_, theirs_)) {}

  Verdict verdict() {
    if (theirs_.empty())
      return nothing_to_compare(std::string(kName), reference_, "holds no parameter to compare with.");
    if (mine_.empty()) return nothing_to_compare(std::string(kName), subject_, "holds no parameter.");
    comparison_ = compare_all(subject_, reference_, match_.pairs);
    find_exchanged();
    if (!add_not_written()) {
      for (Finding& one : findings_of(comparison_, kSides, true)) findings_.push_back(std::move(one));
    }
    if (!add_nameless()) {
      add_missing();
      add_unexpected();
    }
    add_config();
    for (const Checkpoint* side : {&subject_, &reference_}) add_damage(*side, "", findings_);
    return concluded(std::string(kName), std::move(findings_), pass_words());
  }

 private:
  std::string prefix() const { return prefix_words(match_, "module", "file"); }

  // The state of a fresh initialisation, by the name in the module.
  const Tensor* fresh(const Tensor& tensor) const { return before_ == nullptr ? nullptr : before_->find(tensor.name); }

  // Most were never written: one finding in place of many. What happens to equal the file (norms of ones) was not
  // necessarily written.
  bool add_not_written() {
    std::size_t written = 0;
    std::size_t unwritten = 0;
    std::size_t as_before = 0;
    std::size_t unknown = 0;
    for (const Compared& one : comparison_.all) {
      const Tensor* before = fresh(*one.subject);
      const bool same_as_before = before != nullptr && relate(*one.subject, *before).kind == Relation::kEqual;
      as_before += same_as_before ? 1U : 0U;
      const bool holds = holds_values(one.relation.kind);
      if (holds && !same_as_before && !is_constant(*one.subject)) {
        ++written;
      } else if ((same_as_before && !holds) || may_be_fresh(one)) {
        ++unwritten;
      } else {
        ++unknown;
      }
    }
    const std::size_t all = comparison_.all.size();
    if (unwritten == 0 || written * 4 > all) return false;
    std::string title = fmt::format("{} of {} were written by the load; ", written, count_of(all, "tensor"));
    title += before_ != nullptr
                 ? fmt::format("{} equal the fresh initialisation bit for bit", as_before)
                 : fmt::format("{} have values that are not the file's, as a fresh initialisation has", unwritten);
    if (!prefix().empty()) title += "; " + prefix();
    std::vector<std::string> details;
    for (const Compared& one : comparison_.all) {
      if (details.size() == kMostDetails) break;
      if (!holds_values(one.relation.kind)) details.push_back(one.subject->name + ": " + one.relation.words);
    }
    if (unknown > 0) {
      details.push_back(fmt::format("of {} it cannot be told, since they are constant or near the file's values",
                                    count_of(unknown, "tensor")));
    }
    findings_.push_back(fault(std::move(title), std::move(details),
                              match_.by_prefix()
                                  ? "map the keys when loading, and load with strict=True so that missing keys raise"
                                  : "load with strict=True, and look whether an initialisation runs after the load"));
    return true;
  }

  static bool is_constant(const Tensor& tensor) {
    const std::size_t size = size_of(tensor.dtype);
    if (tensor.digest) return false;
    return tensor.bytes.size() <= size || std::equal(tensor.bytes.begin() + static_cast<std::ptrdiff_t>(size),
                                                     tensor.bytes.end(), tensor.bytes.begin());
  }

  void find_exchanged() {
    for (Compared& one : comparison_.all) {
      if (one.relation.kind != Relation::kUnrelated && one.relation.kind != Relation::kDiffers) continue;
      const Tensor* other = same_bits(*one.subject, theirs_);
      if (other == nullptr || other == one.reference) continue;
      one.relation.kind = Relation::kExchanged;
      one.relation.words = fmt::format("holds the file's {}", other->name);
    }
  }

  // What a template does not name may well be what the file has and nothing was compared with: parameters that the
  // module holds as one and the file as several, say.
  bool add_nameless() {
    std::vector<std::string> nameless;
    for (const Tensor* tensor : match_.only_subject) {
      if (std::find(unnamed_.begin(), unnamed_.end(), tensor->name) != unnamed_.end()) nameless.push_back(tensor->name);
    }
    if (nameless.empty() || match_.only_reference.empty()) return false;
    Finding finding =
        fault(fmt::format("the template's [names] have no word for {} of the module ({}), so that {} of the file were "
                          "not compared: {}",
                          count_of(nameless.size(), "tensor"), names_text(nameless),
                          count_of(match_.only_reference.size(), "tensor"), names_text(match_.only_reference)),
              {}, "name them in the template; what the file has in several tensors cannot be compared so");
    finding.status = Status::kInconclusive;
    findings_.push_back(std::move(finding));
    return true;
  }

  void add_missing() {
    std::vector<std::string> dropped;
    for (const MissingTensor& one : explain_missing(subject_, reference_, match_.only_reference)) {
      const std::string& name = one.tensor->name;
      switch (one.kind) {
        case Missing::kAlias:
          break;
        case Missing::kUntied:
        case Missing::kNotAlias:
          findings_.push_back(fault(
              fmt::format("{} of the file is not in the module, which ties it to {}; in the file {}", name,
                          one.twin->name,
                          one.kind == Missing::kUntied ? "they are equal, but config.json says that they are not tied"
                                                       : "they differ"),
              {}, "set tie_word_embeddings as the original has it"));
          break;
        case Missing::kDropped:
          dropped.push_back(name);
      }
    }
    if (dropped.empty()) return;
    std::string title = fmt::format("{} of the file's {} are not in the module: {}", dropped.size(),
                                    count_of(theirs_.size(), "tensor"), names_text(dropped));
    if (match_.pairs.empty()) title += fmt::format("; the module has names such as {}", names_text(mine_, 2));
    findings_.push_back(
        fault(std::move(title), dropped, "compare the class of the model with config.json's architectures"));
    // It may be in the part that could not be read.
    if (!subject_.problems.empty()) findings_.back().status = Status::kInconclusive;
  }

  void add_unexpected() {
    std::vector<std::string> unexpected;
    for (const Tensor* tensor : match_.only_subject) {
      const Tensor* twin = same_bits(*tensor, mine_);
      if (twin == nullptr) unexpected.push_back(tensor->name);
    }
    if (unexpected.empty() || match_.pairs.empty()) return;
    findings_.push_back(
        fault(fmt::format("{} of the module are not in the file, so that nothing was loaded into them: {}",
                          count_of(unexpected.size(), "tensor"), names_text(unexpected)),
              unexpected, "initialise them on purpose, or load the file that has them"));
  }

  void add_config() {
    std::vector<std::string> details;
    for (const FieldDifference& one : field_differences(subject_, reference_, "config")) details.push_back(one.words());
    if (details.empty()) return;
    findings_.push_back(
        fault(fmt::format("config.json differs in {}: {}", count_of(details.size(), "field"), details[0]), details,
              "use the original's config.json"));
  }

  std::string pass_words() const {
    std::string text = fmt::format("all {} equal the original", count_of(comparison_.all.size(), "tensor"));
    const std::size_t casts = comparison_.count(Relation::kCast);
    if (casts == 0) {
      text += " bit for bit";
    } else {
      const auto one = std::find_if(comparison_.all.begin(), comparison_.all.end(),
                                    [](const Compared& c) { return c.relation.kind == Relation::kCast; });
      text += fmt::format(", {} of them after a cast ({})", casts, one->relation.words);
    }
    if (!match_.only_reference.empty())
      text += fmt::format("; {} is tied to another", names_text(match_.only_reference));
    if (!prefix().empty()) text += "; " + prefix();
    return text;
  }

  const Checkpoint& subject_;
  const Checkpoint& reference_;
  const Checkpoint* before_;
  const std::vector<std::string>& unnamed_;
  Tensors mine_;
  Tensors theirs_;
  NameMatch match_;
  Comparison comparison_;
  std::vector<Finding> findings_;
};

}  // namespace

Verdict check_load(const StateInputs& inputs) { return LoadCheck(inputs).verdict(); }

}  // namespace plumbline::checks
