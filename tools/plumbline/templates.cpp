#include "tools/plumbline/templates.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <string_view>
#include <system_error>
#include <vector>

#include "recorder/probe_template.hpp"
#include "tools/plumbline/recording_place.hpp"
#include "tools/plumbline/say.hpp"
#include "tools/plumbline/source_files.hpp"
#include "tools/run_reader/exit_code.hpp"
#include "tools/run_reader/text.hpp"

namespace plumbline::tools {
namespace {

namespace fs = std::filesystem;

std::string name_of(const SourceFile& file) { return fs::path(file.path).stem().string(); }

const SourceFile* carried(const std::string& name) {
  for (std::size_t i = 0; i < kTemplateCount; ++i) {
    if (name_of(kTemplates[i]) == name) return &kTemplates[i];
  }
  return nullptr;
}

bool is_file(const std::string& name) {
  std::error_code error;
  return fs::is_regular_file(name, error);
}

std::string unknown(const std::string& name) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < kTemplateCount; ++i) names.push_back(name_of(kTemplates[i]));
  return fmt::format("there is no template {}; give a file, or one of: {}", printable(name), joined(names, ", "));
}

void print_probe(const recorder::TemplateProbe& probe) {
  fmt::print("{}: {}{}{} of {} {}{}\n", probe.probe, probe.output ? "output" : "input",
             probe.selector.empty() ? "" : ".", probe.selector, place_kind_name(probe.kind),
             probe.target.empty() ? "at the root" : probe.target, probe.amount.empty() ? "" : ", " + probe.amount);
}

int check_file(const std::string& path) {
  std::vector<std::string> complaints;
  const recorder::ProbeTemplate description = recorder::read_template(path, complaints);
  for (const std::string& complaint : complaints) say(printable(complaint));
  if (!complaints.empty()) return kExitUsage;
  for (const recorder::TemplateProbe& probe : description.probes) print_probe(probe);
  fmt::print("{}: {}, {} of replicas, {}\n", path, plural(description.probes.size(), "probe"),
             plural(description.replicas.size(), "pattern"), plural(description.names.size(), "name"));
  return kExitFine;
}

}  // namespace

int show_template(const std::string& name) {
  if (name.empty()) {
    for (std::size_t i = 0; i < kTemplateCount; ++i) fmt::print("{}\n", name_of(kTemplates[i]));
    return kExitFine;
  }
  if (is_file(name)) return check_file(name);
  if (const SourceFile* file = carried(name)) {
    fmt::print("{}", file->text);
    return kExitFine;
  }
  say(unknown(name));
  return kExitUsage;
}

std::string template_file(const std::string& name, const std::string& directory, std::string& why) {
  if (is_file(name)) {
    std::vector<std::string> complaints;
    recorder::read_template(name, complaints);
    if (!complaints.empty()) why = printable(complaints.front());
    return complaints.empty() ? absolute_path(name).string() : "";
  }
  const SourceFile* const file = carried(name);
  if (file == nullptr) {
    why = unknown(name);
    return "";
  }
  std::error_code error;
  fs::create_directories(directory, error);
  const fs::path path = absolute_path(directory) / (name + ".toml");
  std::ofstream out(path, std::ios::binary);
  out << file->text;
  if (!out.flush()) why = fmt::format("{} cannot be written", path.string());
  return why.empty() ? path.string() : "";
}

}  // namespace plumbline::tools
