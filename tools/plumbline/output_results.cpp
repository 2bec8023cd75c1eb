#include "tools/plumbline/output_results.hpp"

#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>

namespace plumbline::tools {
namespace {

using nlohmann::json;

// A distance without a number is one that has none: of a NaN, say.
double distance_at(const json& line, const char* key) {
  const auto found = line.find(key);
  if (found == line.end()) return 0;
  return found->is_number() ? found->get<double>() : std::numeric_limits<double>::infinity();
}

checks::LoadedModel model_of(const json& line) {
  checks::LoadedModel model;
  model.path = line.at("path");
  model.dtype = line.at("dtype");
  model.vocabulary = line.at("vocabulary");
  model.missing = line.at("missing");
  model.unexpected = line.at("unexpected");
  model.ends = line.at("ends").get<checks::TokenIds>();
  model.has_tokenizer = line.at("tokenizer");
  model.tokenizer_error = line.at("tokenizer_error");
  return model;
}

checks::PromptOutputs prompt_of(const json& line) {
  checks::PromptOutputs one;
  one.prompt = line.at("prompt");
  one.given = line.at("given").get<checks::TokenIds>();
  if (line.contains("exported_given")) one.exported_given = line.at("exported_given").get<checks::TokenIds>();
  one.original = line.at("original").get<checks::TokenIds>();
  one.exported = line.value("exported", checks::TokenIds{});
  one.raised = line.value("raised", "");
  one.lead = line.value("lead", 0.0);
  one.distance = distance_at(line, "distance");
  one.repeat_distance = distance_at(line, "repeat_distance");
  one.finite = line.at("finite");
  return one;
}

checks::OutputComparison comparison_of(const json& result) {
  checks::OutputComparison comparison;
  comparison.engine = result.at("engine");
  comparison.original = model_of(result.at("original"));
  comparison.exported = model_of(result.at("exported"));
  for (const json& line : result.at("prompts")) comparison.prompts.push_back(prompt_of(line));
  return comparison;
}

}  // namespace

OutputResults read_output_results(const std::string& path) {
  OutputResults results;
  std::ifstream lines(path);
  try {
    for (std::string text; std::getline(lines, text);) {
      const json line = json::parse(text);
      results.stage = line.value("stage", results.stage);
      results.refused = line.value("refused", results.refused);
      if (line.contains("result")) results.comparison = comparison_of(line.at("result"));
    }
  } catch (const json::exception&) {
    results.comparison.reset();  // the script died in the middle of a line
  }
  return results;
}

}  // namespace plumbline::tools
