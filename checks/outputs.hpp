// Whether an exported model answers as the original does, when both are loaded in the same engine.
//
// The numbers come from a program that runs the engine; see tools/plumbline/output_probe.py.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "checks/verdict.hpp"

namespace plumbline::checks {

using TokenIds = std::vector<std::int64_t>;

// One directory, as the engine loaded it.
struct LoadedModel {
  std::string path;
  std::string dtype;
  std::int64_t vocabulary = 0;            // rows of the token embedding
  std::vector<std::string> missing{};     // parameters that no file had: the engine made them up
  std::vector<std::string> unexpected{};  // tensors of the files that the model has no place for
  TokenIds ends{};                        // tokens at which it stops, sorted
  bool has_tokenizer = false;
  std::string tokenizer_error{};  // there are files of one, and they cannot be loaded
};

struct PromptOutputs {
  std::string prompt;  // for people
  TokenIds given;
  std::optional<TokenIds> exported_given{};  // of the same text by the export's tokenizer
  TokenIds original;                         // greedy answers
  TokenIds exported;
  std::string raised{};        // the export failed in the run: why
  double lead = 0;             // of the original's logits where the answers part: the best over the second
  double distance = 0;         // largest difference of logits over the original's answer
  double repeat_distance = 0;  // the same between two runs of the original
  bool finite = true;          // the original's logits are
};

struct OutputComparison {
  std::string engine;  // with versions
  LoadedModel original;
  LoadedModel exported;
  std::vector<PromptOutputs> prompts;
};

// Fails where the export's answers are others in the same element type, where it stops elsewhere, makes other tokens of
// a text, or where tensors were left over or made up. Passes only when the logits are the same bit for bit.
Verdict check_outputs(const OutputComparison& comparison);

}  // namespace plumbline::checks
