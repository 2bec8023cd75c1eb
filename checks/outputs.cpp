#include "checks/outputs.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "checks/state_compare.hpp"

namespace plumbline::checks {
namespace {

constexpr std::string_view kName = "outputs";

// Those of `names` that `others` lacks: both sorted.
std::vector<std::string> only_in(const std::vector<std::string>& names, const std::vector<std::string>& others) {
  std::vector<std::string> rest;
  std::set_difference(names.begin(), names.end(), others.begin(), others.end(), std::back_inserter(rest));
  return rest;
}

std::size_t first_difference(const TokenIds& one, const TokenIds& other) {
  const std::size_t both = std::min(one.size(), other.size());
  return static_cast<std::size_t>(
      std::mismatch(one.begin(), one.begin() + static_cast<std::ptrdiff_t>(both), other.begin()).first - one.begin());
}

// "token 17", "no token any more".
std::string token_at(const TokenIds& tokens, std::size_t place) {
  return place < tokens.size() ? fmt::format("token {}", tokens[place]) : "no token any more";
}

std::string tokens_text(const TokenIds& tokens) {
  return tokens.empty() ? "at no token"
                        : fmt::format("at {} {}", tokens.size() == 1 ? "token" : "tokens", fmt::join(tokens, ", "));
}

// One is where the other goes on: what another end token does.
bool stops_early(const PromptOutputs& one) {
  const std::size_t place = first_difference(one.original, one.exported);
  return place == std::min(one.original.size(), one.exported.size());
}

std::string difference_text(const PromptOutputs& one) {
  const std::size_t place = first_difference(one.original, one.exported);
  std::string text = fmt::format("after {}, answer position {}: {} in the export, {} in the original", one.prompt,
                                 place, token_at(one.exported, place), token_at(one.original, place));
  if (place < one.original.size() && place < one.exported.size()) {
    text += fmt::format(" (its logit is {:.3g} above the next best)", one.lead);
  }
  return text;
}

class OutputCheck {
 public:
  explicit OutputCheck(const OutputComparison& comparison)
      : all_(comparison), mine_(comparison.exported), theirs_(comparison.original) {}

  Verdict verdict() {
    if (all_.prompts.empty()) return not_evaluated(std::string(kName), "no prompt was answered by the original");
    add_tensors();
    add_vocabulary();
    add_tokenizer();
    add_failures();
    add_answers();
    add_logits();
    Verdict verdict = concluded(std::string(kName), std::move(findings_), pass_words());
    if (!theirs_.missing.empty()) {
      verdict.unknown.push_back(
          fmt::format("{} itself lacks {}: the engine made them up", theirs_.path, names_text(theirs_.missing)));
      if (verdict.status == Status::kPass) verdict.status = Status::kInconclusive;
    }
    return verdict;
  }

 private:
  void add_open(std::string title, std::vector<std::string> details, std::string next) {
    findings_.push_back(fault(std::move(title), std::move(details), std::move(next)));
    findings_.back().status = Status::kInconclusive;
  }

  void add_tensors() {
    if (const auto missing = only_in(mine_.missing, theirs_.missing); !missing.empty()) {
      findings_.push_back(fault(fmt::format("the export lacks {} of the model, which the engine made up: {}",
                                            count_of(missing.size(), "parameter"), names_text(missing))));
    }
    if (const auto extra = only_in(mine_.unexpected, theirs_.unexpected); !extra.empty()) {
      findings_.push_back(
          fault(fmt::format("the model has no place for {} of the export, and the engine left them out: {}",
                            count_of(extra.size(), "tensor"), names_text(extra))));
    }
  }

  void add_vocabulary() {
    if (mine_.vocabulary == theirs_.vocabulary) return;
    findings_.push_back(fault(
        fmt::format("the export's embedding has {} rows, the original's {}", mine_.vocabulary, theirs_.vocabulary)));
  }

  void add_tokenizer() {
    if (theirs_.has_tokenizer && !mine_.has_tokenizer) {
      if (mine_.tokenizer_error.empty()) {
        add_open("the export has no tokenizer, the original has one", {},
                 "copy the tokenizer's files if the export is to be served by itself");
      } else {
        findings_.push_back(
            fault("the export's tokenizer cannot be loaded, the original's can: " + mine_.tokenizer_error));
      }
    }
    std::vector<std::string> details;
    for (const PromptOutputs& one : all_.prompts) {
      if (!one.exported_given || *one.exported_given == one.given) continue;
      const std::size_t place = first_difference(one.given, *one.exported_given);
      details.push_back(fmt::format("of {}, position {}: {} by the export's, {} by the original's", one.prompt, place,
                                    token_at(*one.exported_given, place), token_at(one.given, place)));
    }
    if (details.empty()) return;
    findings_.push_back(
        fault(fmt::format("the export's tokenizer makes other tokens of {}", count_of(details.size(), "prompt")),
              details, "compare tokenizer files and chat templates: run-reader check export"));
  }

  void add_failures() {
    std::vector<std::string> details;
    for (const PromptOutputs& one : all_.prompts) {
      if (!one.raised.empty()) details.push_back(fmt::format("after {}: {}", one.prompt, one.raised));
    }
    if (details.empty()) return;
    findings_.push_back(
        fault(fmt::format("the export answers nothing to {}, the original does", count_of(details.size(), "prompt")),
              details));
  }

  void add_answers() {
    const bool other_ends = mine_.ends != theirs_.ends;
    std::vector<std::string> stops;
    std::vector<std::string> others;
    bool repeatable = true;
    for (const PromptOutputs& one : all_.prompts) {
      if (!one.raised.empty() || one.original == one.exported) continue;
      (other_ends && stops_early(one) ? stops : others).push_back(difference_text(one));
      repeatable = repeatable && one.repeat_distance == 0;
    }
    if (other_ends) {
      findings_.push_back(
          fault(fmt::format("the export stops {}, the original {}", tokens_text(mine_.ends), tokens_text(theirs_.ends)),
                stops, "write the original's eos_token_id into generation_config.json"));
    }
    if (others.empty()) return;
    answers_differ_ = true;
    const std::string title = fmt::format("greedy answers differ after {} of {}: {}", others.size(),
                                          count_of(all_.prompts.size(), "prompt"), others.front());
    const std::string next = fmt::format("run-reader check export {} --reference {} names the tensors and settings",
                                         mine_.path, theirs_.path);
    if (mine_.dtype != theirs_.dtype) {
      add_open(title, others,
               fmt::format("export in {} as the original is: in {} answers may part by rounding", theirs_.dtype,
                           mine_.dtype));
    } else if (!repeatable) {
      add_open(title, others, "the original's own logits differ from run to run: compare with --device cpu");
    } else {
      findings_.push_back(fault(title, others, next));
    }
  }

  // Where no answer shows it.
  void add_logits() {
    const PromptOutputs* worst = nullptr;
    for (const PromptOutputs& one : all_.prompts) {
      if (!one.finite) add_open(fmt::format("after {} the original's own logits are no numbers", one.prompt), {}, "");
      if (!one.raised.empty() || one.distance <= one.repeat_distance) continue;
      if (worst == nullptr || one.distance > worst->distance) worst = &one;
    }
    if (worst == nullptr) return;
    if (std::isinf(worst->distance)) {
      findings_.push_back(fault(fmt::format("after {} the export's logits are no numbers", worst->prompt)));
    }
    if (std::isinf(worst->distance) || answers_differ_) return;
    add_open(fmt::format("the greedy answers are the same, the logits are not: after {} they differ by up to {:.3g}",
                         worst->prompt, worst->distance),
             {fmt::format("the original against itself: {:.3g}; types: {} in the export, {} in the original",
                          worst->repeat_distance, mine_.dtype, theirs_.dtype)},
             fmt::format("run-reader check export {} --reference {} names the tensors that differ", mine_.path,
                         theirs_.path));
  }

  std::string pass_words() const {
    std::size_t tokens = 0;
    for (const PromptOutputs& one : all_.prompts) tokens += one.original.size();
    return fmt::format("{} of {} are the same, and their logits bit for bit ({}, {})", count_of(tokens, "greedy token"),
                       count_of(all_.prompts.size(), "answer"), mine_.dtype, all_.engine);
  }

  const OutputComparison& all_;
  const LoadedModel& mine_;
  const LoadedModel& theirs_;
  std::vector<Finding> findings_;
  bool answers_differ_ = false;
};

}  // namespace

Verdict check_outputs(const OutputComparison& comparison) { return OutputCheck(comparison).verdict(); }

}  // namespace plumbline::checks
