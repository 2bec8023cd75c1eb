#include "shim/core/launcher_facts.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <map>

#include "recorder/recorder.hpp"
#include "recorder/reported_variables.hpp"
#include "shim/core/process_files.hpp"

namespace plumbline::shim {
namespace {

using recorder::fact;
using Variables = std::map<std::string_view, std::string_view>;

void add(Variables& variables, std::string_view text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos || !recorder::is_reported_variable(text.substr(0, equals))) return;
  variables[text.substr(0, equals)] = text.substr(equals + 1);
}

Variables started_with(std::string_view text) {
  Variables variables;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\0'), text.size());
    add(variables, text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return variables;
}

bool has_launcher(const char* parent) noexcept {
  for (const char* name : {"RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID"}) {
    if (std::getenv(name) != nullptr) return true;
  }
  const std::string own = command_of("self");
  return own.find("multiprocessing") != std::string::npos || own == command_of(parent);
}

}  // namespace

std::vector<std::pair<std::string, std::string>> launcher_variables(std::string_view theirs,
                                                                    const std::vector<std::string_view>& ours) {
  std::vector<std::pair<std::string, std::string>> facts;
  const Variables before = started_with(theirs);
  Variables now;
  for (const std::string_view text : ours) add(now, text);
  std::string lacks;
  for (const auto& [name, value] : now) {
    if (before.count(name) == 0) lacks += (lacks.empty() ? "" : ",") + std::string(name);
  }
  for (const auto& [name, value] : before) {
    const auto own = now.find(name);
    if (own == now.end() || own->second != value) facts.emplace_back("launcher.env." + std::string(name), value);
  }
  facts.emplace_back("launcher.lacks", lacks);
  return facts;
}

void report_launcher() noexcept {
  const std::string parent = std::to_string(getppid());
  if (!has_launcher(parent.c_str())) return;
  const std::string command = command_of(parent.c_str());
  if (command.empty()) return;
  fact("launcher.command", command);
  fact("launcher.executable", link_of(parent.c_str(), "exe"));
  fact("launcher.directory", link_of(parent.c_str(), "cwd"));
  std::vector<std::string_view> ours;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) ours.emplace_back(*entry);
  for (const auto& [key, value] : launcher_variables(environment_of(parent.c_str()), ours)) fact(key, value);
}

}  // namespace plumbline::shim
