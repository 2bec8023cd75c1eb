// The plumbline command: starts jobs under the preload object, builds the torch adapter, and tells what is recorded and
// what is not.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <string>
#include <string_view>

#include "recorder/settings.hpp"
#include "recorder/version.hpp"
#include "tools/plumbline/adapter_build.hpp"
#include "tools/plumbline/doctor.hpp"
#include "tools/plumbline/interpreter.hpp"
#include "tools/plumbline/launch.hpp"
#include "tools/plumbline/say.hpp"
#include "tools/plumbline/torch_install.hpp"
#include "tools/run_reader/text.hpp"

namespace {

namespace tools = plumbline::tools;

constexpr int kFindings = 1;
constexpr int kUsage = 2;

int build_adapter(const std::string& wanted_python) {
  const std::string python = wanted_python.empty() ? tools::find_interpreter({}) : wanted_python;
  if (python.empty()) {
    tools::say("no python3 in PATH; name one with --python");
    return kUsage;
  }
  tools::TorchInstall torch;
  std::string why;
  if (!tools::find_torch(python, torch, why)) {
    tools::say(why);
    return kUsage;
  }
  const auto result = tools::make_adapter(torch, plumbline::recorder::load_settings().cache, tools::say);
  if (!result.why.empty()) {
    tools::say(result.why);
    fmt::print(stderr, "{}", result.log);
    return kFindings;
  }
  fmt::print("{}\n", result.path);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Records training jobs and tells what was recorded. See also: run-reader.");
  app.set_version_flag("--version", plumbline::recorder::kVersion);
  app.require_subcommand(1);

  tools::LaunchOptions run_options;
  CLI::App* run = app.add_subcommand("run", "start a job under the preload object: plumbline run -- torchrun …");
  run->add_option("--dir", run_options.directory, "where the run directory is made");
  run->add_option("--level", run_options.level, "off, watch or diagnose")
      ->check(CLI::IsMember({"off", "watch", "diagnose"}));
  run->add_option("--python", run_options.python, "the interpreter whose torch the job uses");
  run->prefix_command();

  std::string adapter_python;
  CLI::App* build = app.add_subcommand("build-adapter", "compile the torch adapter into the cache");
  build->add_option("--python", adapter_python, "the interpreter whose torch it is for; else python3 of PATH");

  std::string doctor_target;
  std::string doctor_python;
  CLI::App* doctor = app.add_subcommand("doctor", "what is recorded and what is not: here, in a process, in a run");
  doctor->add_option("target", doctor_target, "a process number or a run; else this machine");
  doctor->add_option("--python", doctor_python, "the interpreter whose torch is looked at; else python3 of PATH");

  // What follows `--` belongs to the job, unread.
  char** const end = argv + argc;
  char** const mark = std::find(argv, end, std::string_view("--"));
  try {
    app.parse(static_cast<int>(mark - argv), argv);
  } catch (const CLI::Success& wanted) {
    return app.exit(wanted);  // help or version
  } catch (const CLI::ParseError& error) {
    tools::say(
        argc > 1 && argv[1][0] != '-' && app.get_subcommands().empty()
            ? fmt::format("there is no command {}; there are: run, build-adapter, doctor", tools::printable(argv[1]))
            : error.what());
    tools::say("plumbline --help tells the commands");
    return kUsage;
  }
  if (run->parsed()) {
    run_options.command = run->remaining();
    if (mark != end) run_options.command.insert(run_options.command.end(), mark + 1, end);
    if (run_options.command.empty()) {
      tools::say("which job? plumbline run -- torchrun …");
      return kUsage;
    }
    return tools::launch(run_options);
  }
  return doctor->parsed() ? tools::doctor(doctor_target, doctor_python) : build_adapter(adapter_python);
}
