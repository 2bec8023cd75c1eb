#include "recorder/toml.hpp"

#include "recorder/toml_library.hpp"

namespace plumbline::recorder {
namespace {

std::string plain_text(const toml::node& node) {
  if (const auto* text = node.as_string()) return text->get();
  if (const auto* number = node.as_integer()) return std::to_string(number->get());
  if (const auto* truth = node.as_boolean()) return truth->get() ? "true" : "false";
  if (const auto* real = node.as_floating_point()) return std::to_string(real->get());
  return {};
}

}  // namespace

std::vector<std::pair<std::string, std::string>> parse_toml_pairs(std::string_view text, std::string& error) {
  std::vector<std::pair<std::string, std::string>> pairs;
  error.clear();
  const toml::parse_result result = toml::parse(text);
  if (!result) {
    const toml::parse_error& problem = result.error();
    error = "line " + std::to_string(problem.source().begin.line) + ": " + std::string(problem.description());
    return pairs;
  }
  for (const auto& [key, node] : result.table()) pairs.emplace_back(std::string(key.str()), plain_text(node));
  return pairs;
}

}  // namespace plumbline::recorder
