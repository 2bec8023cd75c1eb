#include "tools/plumbline/rerun.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "reader/run.hpp"
#include "recorder/capture_plan.hpp"
#include "recorder/reported_variables.hpp"
#include "recorder/settings.hpp"
#include "recorder/shell_words.hpp"
#include "tools/plumbline/launch.hpp"
#include "tools/plumbline/recorded_launch.hpp"
#include "tools/plumbline/recording_place.hpp"
#include "tools/plumbline/say.hpp"
#include "tools/plumbline/subprocess.hpp"
#include "tools/plumbline/templates.hpp"
#include "tools/run_reader/remedy.hpp"
#include "tools/run_reader/text.hpp"

namespace plumbline::tools {
namespace {

namespace fs = std::filesystem;

constexpr int kUsage = 2;

// NAME=VALUE, as a shell would take it for a variable.
bool sets_variable(const std::string& word) {
  const std::size_t equals = word.find('=');
  if (equals == std::string::npos || equals == 0 || std::isdigit(static_cast<unsigned char>(word[0])) != 0)
    return false;
  return std::all_of(word.begin(), word.begin() + static_cast<std::ptrdiff_t>(equals),
                     [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; });
}

void change(RecordedLaunch& launch, const RerunOptions& options) {
  launch.variables.erase("PLUMBLINE_LEVEL");
  if (!options.steps.empty()) launch.variables["PLUMBLINE_CAPTURE_STEPS"] = options.steps;
  for (const std::string& word : options.changes) {
    if (sets_variable(word)) {
      launch.variables[word.substr(0, word.find('='))] = word.substr(word.find('=') + 1);
    } else {
      launch.command.push_back(word);
    }
  }
}

bool is_same_file(const std::string& a, const std::string& b) {
  std::error_code error;
  return !a.empty() && fs::equivalent(a, b, error);
}

// The program that the first word named then: by PATH, in the virtual environment that was active, or by its real
// path. A path is taken at its word, so that the Python of a virtual environment stays that one.
std::string find_recorded_program(const RecordedLaunch& launch) {
  const std::string& word = launch.command.front();
  if (word.find('/') != std::string::npos) return find_program(word);
  const auto environment = launch.variables.find("VIRTUAL_ENV");
  const std::string inside = environment == launch.variables.end() ? "" : environment->second + "/bin/" + word;
  for (const std::string& candidate : {inside, find_program(word)}) {
    if (is_same_file(candidate, launch.executable)) return candidate;
  }
  return find_program(launch.executable.empty() ? word : launch.executable);
}

// Variables that the recorder would report are as they were in the run, neither fewer nor more.
std::vector<std::string> variables_to_unset(const RecordedLaunch& launch) {
  std::vector<std::string> names;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text(*entry);
    const std::string name = text.substr(0, text.find('='));
    const bool stays = !recorder::is_reported_variable(name) || name == "PLUMBLINE_CACHE";
    if (!stays && launch.variables.count(name) == 0) names.push_back(name);
  }
  return names;
}

void show(const RecordedLaunch& launch, const std::string& program) {
  std::vector<std::string> words = {"env"};
  for (const auto& [name, value] : launch.variables) words.push_back(fmt::format("{}={}", name, value));
  words.push_back(program);
  words.insert(words.end(), launch.command.begin() + 1, launch.command.end());
  fmt::print("cd {} && {}\n", recorder::shell_word(launch.directory), printable(recorder::shell_line(words)));
}

int refuse(const std::string& sentence) {
  say(printable(sentence));
  return kUsage;
}

}  // namespace

int rerun(const RerunOptions& options) {
  if (!options.steps.empty() && !recorder::CapturePlan::understands_steps(options.steps)) {
    return refuse(fmt::format("--steps {}: give optimizer steps as 0-9,%100, or all, or none", options.steps));
  }
  const auto run = reader::Run::open(options.run);
  if (!run.ok()) return refuse(why_no_run(options.run, run.status()));
  auto launch = recorded_launch(*run);
  if (!launch.ok()) return refuse(launch.status().message());
  change(*launch, options);
  if (!options.probes.empty()) {
    std::string why;
    const std::string file = template_file(options.probes, recorder::load_settings().cache + "/templates", why);
    if (file.empty()) return refuse(why);
    launch->variables["PLUMBLINE_TEMPLATE"] = file;
  }
  std::error_code error;
  const fs::path old = fs::canonical(options.run, error);
  const fs::path place = fs::is_directory(old, error) ? old.parent_path() : old.parent_path().parent_path();
  LaunchOptions again;
  again.directory = options.directory.empty() ? place.string() : absolute_path(options.directory).string();
  again.level = options.level;
  if (chdir(launch->directory.c_str()) != 0) {
    return refuse(fmt::format("the directory {}, in which the run was started, is not here", launch->directory));
  }
  const std::string program = find_recorded_program(*launch);
  if (program.empty()) return refuse(fmt::format("the program {} of the run is not here", launch->command.front()));
  if (options.show) {
    show(*launch, program);
    return 0;
  }
  for (const std::string& name : variables_to_unset(*launch)) unsetenv(name.c_str());
  for (const auto& [name, value] : launch->variables) setenv(name.c_str(), value.c_str(), 1);
  again.command = launch->command;
  again.command.front() = program;
  say("again: " + printable(recorder::shell_line(again.command)));
  return tools::launch(again);
}

}  // namespace plumbline::tools
