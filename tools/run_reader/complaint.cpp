#include "tools/run_reader/complaint.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <vector>

#include "tools/run_reader/text.hpp"

namespace plumbline::tools {
namespace {

// As a person types it: -o FILE, --rank, RUN.
std::string typed(const CLI::Option& option) {
  if (!option.get_positional()) return option.get_name(false, true);
  std::string name = option.get_type_name() == "TEXT" ? option.get_name() : option.get_type_name();
  std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::toupper(c); });
  return name;
}

// The words that no option took, as they were typed.
std::string surplus(const CLI::App& command) {
  std::vector<std::string> words = command.remaining(true);
  std::erase(words, "--");
  for (std::string& word : words) word = word.empty() ? "''" : printable(word);
  return joined(words, " ");
}

std::string problem_of(const CLI::App& command, const CLI::Error& error) {
  if (const std::string words = surplus(command); !words.empty()) return "does not take " + words;
  for (const CLI::Option* option : command.get_options()) {
    const bool twice = option->get_expected_max() == 1 && option->get_items_expected_max() == 1 && option->count() > 1;
    if (twice) return "takes " + typed(*option) + " only once";
  }
  for (const CLI::Option* option : command.get_options()) {
    if (option->get_required() && option->count() == 0)
      return "needs " + typed(*option) + ": " + option->get_description();
  }
  for (const CLI::Option* option : command.get_options()) {
    const std::string text = error.what();
    if (dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr && text.starts_with(option->get_name() + ":"))
      return "needs a value after " + typed(*option) + ": " + option->get_description();
  }
  return "does not understand this: " + printable(error.what());
}

}  // namespace

std::string complaint_of(const CLI::App& app, const CLI::Error& error) {
  const std::string& program = app.get_name();
  const std::vector<const CLI::App*> chosen = app.get_subcommands(nullptr);
  const auto parsed = std::find_if(chosen.begin(), chosen.end(), [](const CLI::App* one) { return one->parsed(); });
  if (parsed != chosen.end()) {
    const std::string command = program + " " + (*parsed)->get_name();
    return (*parsed)->get_name() + " " + problem_of(**parsed, error) + "; " + command + " --help tells its options.";
  }
  std::vector<std::string> names;
  names.reserve(chosen.size());
  for (const CLI::App* one : chosen) names.push_back(one->get_name());
  const std::string words = surplus(app);
  return (words.empty() ? "which command?" : "there is no option " + words + " before a command;") +
         " there are: " + joined(names, ", ") + "; " + program + " --help tells what they do.";
}

}  // namespace plumbline::tools
