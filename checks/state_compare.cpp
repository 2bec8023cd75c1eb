#include "checks/state_compare.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "reader/parallel.hpp"

namespace plumbline::checks {
namespace {

using reader::Checkpoint;
using reader::Tensor;

constexpr std::size_t kMostDetails = 12;

struct KindWords {
  Relation kind;
  std::string_view what;  // "3 of 26 tensors …"
  std::string_view next;
};

// Worst first.
constexpr std::array<KindWords, 16> kKinds = {{
    {Relation::kEmpty, "have no element", "gather the shards on every rank before the export, and export again"},
    {Relation::kNaN, "hold nothing but NaN: they were never written",
     "look up these names in the file's keys, and in what the loader said of missing keys"},
    {Relation::kSomeNaN, "hold NaN in a part: that part was never written",
     "compare the offsets of the shards that write this tensor"},
    {Relation::kExchanged, "hold what belongs to another name", "compare the map of names that the load uses"},
    {Relation::kUnrelated, "have values that have nothing in common with {}'s, as after a fresh initialisation",
     "look whether an initialisation runs after the load, and whether these keys were found"},
    {Relation::kZero, "are all zero", "look whether an initialisation runs after the load"},
    {Relation::kTransposed, "are transposed", "look how the layer stores its weight: [out, in], or [in, out]"},
    {Relation::kRowsPermuted, "have their rows in other places",
     "compare the order of heads, of gate and up, or of rotary halves in the conversion"},
    {Relation::kColumnsPermuted, "have their columns in other places",
     "compare the order of heads and of the parts that are joined in the conversion"},
    {Relation::kReshaped, "have another shape with the same values", "reshape them in the conversion"},
    {Relation::kShape, "have another shape", "compare the model's settings with the original's config.json"},
    {Relation::kScaled, "are the same times a factor",
     "look for a scale that is folded in twice, or a merge of adapters"},
    {Relation::kTruncated, "were cast by cutting off bits", "cast with rounding to the nearest, as torch does"},
    {Relation::kRounded, "went through a narrower type", "load and save them without the narrower type between"},
    {Relation::kDiffers, "differ", "look whether a step was taken, or a rank wrote its own copy"},
    {Relation::kCast, "have another element type", "save them in the original's type"},
}};

std::string side_text(std::string_view what, const Sides& sides) {
  std::string text(what);
  if (const std::size_t at = text.find("{}"); at != std::string::npos) text.replace(at, 2, sides.reference);
  return text;
}

bool intact(const Checkpoint& checkpoint, const Tensor& tensor) {
  if (tensor.file >= checkpoint.files.size()) return true;
  const auto& mapped = checkpoint.files[tensor.file].mapped;
  return mapped == nullptr || mapped->intact();
}

}  // namespace

std::size_t Comparison::count(Relation kind) const {
  return static_cast<std::size_t>(
      std::count_if(all.begin(), all.end(), [&](const Compared& one) { return one.relation.kind == kind; }));
}

Comparison compare_all(const Checkpoint& subject, const Checkpoint& reference, const std::vector<TensorPair>& pairs) {
  std::vector<Compared> compared(pairs.size());
  std::vector<const Checkpoint*> cut(pairs.size(), nullptr);
  reader::parallel_for(pairs.size(), 0, [&](std::size_t i) {
    compared[i] = {pairs[i].first, pairs[i].second, {}};
    if (!intact(subject, *pairs[i].first)) {
      cut[i] = &subject;
    } else if (!intact(reference, *pairs[i].second)) {
      cut[i] = &reference;
    } else {
      compared[i].relation = relate(*pairs[i].first, *pairs[i].second);
    }
  });
  Comparison result;
  std::set<std::string> sentences;
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    if (cut[i] == nullptr) {
      result.all.push_back(std::move(compared[i]));
      continue;
    }
    const Tensor& tensor = cut[i] == &subject ? *pairs[i].first : *pairs[i].second;
    sentences.insert(cut[i]->files[tensor.file].mapped->path() +
                     " became shorter while it was read: wait until it is written, and check again.");
  }
  result.unread.assign(sentences.begin(), sentences.end());
  return result;
}

std::vector<Finding> findings_of(const Comparison& comparison, const Sides& sides, bool cast_is_fine) {
  std::vector<Finding> findings;
  for (const KindWords& words : kKinds) {
    if (words.kind == Relation::kCast && cast_is_fine) continue;
    std::vector<const Tensor*> tensors;
    std::vector<std::string> details;
    for (const Compared& one : comparison.all) {
      if (one.relation.kind != words.kind) continue;
      tensors.push_back(one.subject);
      if (details.size() < kMostDetails) details.push_back(one.subject->name + ": " + one.relation.words);
    }
    if (tensors.empty()) continue;
    findings.push_back(
        fault(fmt::format("{} of {} of {} {}: {}", tensors.size(), count_of(comparison.all.size(), "tensor"),
                          sides.subject, side_text(words.what, sides), names_text(tensors)),
              std::move(details), std::string(words.next)));
  }
  for (const std::string& sentence : comparison.unread) {
    Finding finding = fault(sentence);
    finding.status = Status::kInconclusive;
    findings.push_back(std::move(finding));
  }
  return findings;
}

std::string names_text(const std::vector<std::string>& names, std::size_t most) {
  std::string text;
  for (std::size_t i = 0; i < std::min(names.size(), most); ++i) text += (i == 0 ? "" : ", ") + names[i];
  if (names.size() > most) text += fmt::format(" and {} more", names.size() - most);
  return text;
}

std::string names_text(const std::vector<const Tensor*>& tensors, std::size_t most) {
  std::vector<std::string> names;
  names.reserve(tensors.size());
  for (const Tensor* tensor : tensors) names.push_back(tensor->name);
  return names_text(names, most);
}

std::string count_of(std::size_t count, std::string_view one) {
  return fmt::format("{} {}{}", count, one, count == 1 ? "" : "s");
}

Finding fault(std::string title, std::vector<std::string> details, std::string next) {
  Finding finding;
  finding.title = std::move(title);
  finding.details = std::move(details);
  finding.next = std::move(next);
  return finding;
}

void add_damage(const reader::Checkpoint& side, std::string_view whose, std::vector<Finding>& into) {
  for (const reader::Problem& problem : side.problems) {
    into.push_back(fault(std::string(whose) + problem.sentence));
    into.back().status = Status::kInconclusive;
  }
}

Verdict concluded(std::string check, std::vector<Finding> findings, std::string otherwise) {
  Verdict verdict;
  verdict.check = std::move(check);
  verdict.status = findings.empty() ? Status::kPass : Status::kInconclusive;
  for (const Finding& finding : findings) {
    if (finding.status == Status::kFail) verdict.status = Status::kFail;
  }
  std::stable_partition(findings.begin(), findings.end(),
                        [](const Finding& one) { return one.status == Status::kFail; });
  verdict.reason = findings.empty() ? std::move(otherwise) : findings.front().title;
  verdict.findings = std::move(findings);
  return verdict;
}

Verdict not_evaluated(std::string check, std::string reason) {
  Verdict verdict;
  verdict.check = std::move(check);
  verdict.reason = std::move(reason);
  return verdict;
}

Verdict nothing_to_compare(std::string check, const reader::Checkpoint& side, std::string_view words) {
  if (side.problems.empty()) return not_evaluated(std::move(check), fmt::format("{} {}", side.path, words));
  Verdict verdict = not_evaluated(std::move(check), side.problems.front().sentence);
  verdict.status = Status::kInconclusive;
  return verdict;
}

}  // namespace plumbline::checks
