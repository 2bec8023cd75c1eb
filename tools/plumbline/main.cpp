// The plumbline command: starts jobs under the preload object, builds the torch adapter, and tells what is recorded and
// what is not.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <exception>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "recorder/settings.hpp"
#include "recorder/version.hpp"
#include "tools/plumbline/adapter_build.hpp"
#include "tools/plumbline/check_collectives.hpp"
#include "tools/plumbline/compare_outputs.hpp"
#include "tools/plumbline/doctor.hpp"
#include "tools/plumbline/interpreter.hpp"
#include "tools/plumbline/launch.hpp"
#include "tools/plumbline/rerun.hpp"
#include "tools/plumbline/say.hpp"
#include "tools/plumbline/templates.hpp"
#include "tools/plumbline/torch_install.hpp"
#include "tools/run_reader/complaint.hpp"
#include "tools/run_reader/text.hpp"

namespace {

namespace tools = plumbline::tools;
using Words = std::vector<std::string>;

constexpr int kFindings = 1;
constexpr int kUsage = 2;

// A subcommand and what it does; `rest` are the words after `--`, which this program leaves unread.
struct Command {
  CLI::App* app;
  std::function<int(const Words& rest)> act;
};

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

// The job of a subcommand that starts one: words before `--` that are no options, and those after it.
Words job_of(const CLI::App* app, const Words& rest) {
  Words words = app->remaining();
  words.insert(words.end(), rest.begin(), rest.end());
  // What CLI11 did not know: an option of this program that there is not, rather than a program of that name.
  if (!app->remaining().empty() && app->remaining().front().starts_with('-')) {
    tools::say(fmt::format("{0} does not take {1}; plumbline {0} --help tells its options, and a job stands after --",
                           app->get_name(), tools::printable(app->remaining().front())));
    return {};
  }
  if (words.empty()) tools::say(fmt::format("which job? plumbline {} -- torchrun …", app->get_name()));
  return words;
}

void take_level(CLI::App* app, std::string& level) {
  app->add_option("--level", level, "off, watch or diagnose")->check(CLI::IsMember({"off", "watch", "diagnose"}));
}

Command run_command(CLI::App& app, tools::LaunchOptions& options) {
  CLI::App* run = app.add_subcommand("run", "start a job under the preload object: plumbline run -- torchrun …");
  run->add_option("--dir", options.directory, "where the run directory is made");
  take_level(run, options.level);
  run->add_option("--python", options.python, "the interpreter whose torch the job uses");
  run->prefix_command();
  return {run, [run, &options](const Words& rest) {
            options.command = job_of(run, rest);
            return options.command.empty() ? kUsage : tools::launch(options);
          }};
}

Command rerun_command(CLI::App& app, tools::RerunOptions& options) {
  CLI::App* rerun =
      app.add_subcommand("rerun", "launch a recorded job again: plumbline rerun RUN -- NAME=VALUE --more");
  rerun->add_option("run", options.run, "the run directory")->required();
  take_level(rerun, options.level);
  rerun->add_option("--steps", options.steps, "optimizer steps that are captured, as 0-9,%100");
  rerun->add_option("--template", options.probes,
                    "where the probes sit: a file, or a name as plumbline template lists it");
  rerun->add_option("--dir", options.directory, "where the new run directory is made; else beside the old one");
  rerun->add_flag("--show", options.show, "print the command instead of running it");
  return {rerun, [&options](const Words& rest) {
            options.changes = rest;
            return tools::rerun(options);
          }};
}

Command collectives_command(CLI::App& app, tools::CollectiveCheckOptions& options) {
  CLI::App* check =
      app.add_subcommand("check-collectives", "try every collective: plumbline check-collectives -- torchrun …");
  check->add_option("--backend", options.backend, "nccl or gloo; else as the machine has it");
  check->add_option("--groups", options.groups, "ranks of the groups that are tried, as 0,1;2,3");
  check->add_option("--run", options.run, "a recorded run whose groups are tried");
  check->add_option("--dir", options.directory, "where script and results are put: shared by all hosts of the job");
  check->add_option("--seconds", options.seconds, "how long one call may take")->check(CLI::Range(1, 86400));
  check->prefix_command();
  return {check, [check, &options](const Words& rest) {
            options.command = job_of(check, rest);
            return options.command.empty() ? kUsage : tools::check_collectives(options);
          }};
}

Command outputs_command(CLI::App& app, tools::OutputCompareOptions& options) {
  CLI::App* compare = app.add_subcommand("compare-outputs", "do an exported model and its original answer alike?");
  compare->add_option("original", options.original, "the original's directory")->required();
  compare->add_option("exported", options.exported, "the export's directory")->required();
  compare->add_option("--python", options.python, "the interpreter that has transformers; else python3 of PATH");
  compare->add_option("--prompts", options.prompts, "a file with a prompt a line; else a few texts and random tokens");
  compare->add_option("--tokens", options.tokens, "length of an answer, 16 if not given")->check(CLI::Range(1, 4096));
  compare->add_option("--device", options.device, "where the models run, as torch calls it: cpu, cuda, cuda:1");
  compare->add_flag("--trust-remote-code", options.trust_remote_code, "run Python that the directories bring along");
  compare->add_flag("--json", options.json, "as JSON");
  return {compare, [&options](const Words&) { return tools::compare_outputs(options); }};
}

Command build_command(CLI::App& app, std::string& python) {
  CLI::App* build = app.add_subcommand("build-adapter", "compile the torch adapter into the cache");
  build->add_option("--python", python, "the interpreter whose torch it is for; else python3 of PATH");
  return {build, [&python](const Words&) { return build_adapter(python); }};
}

Command template_command(CLI::App& app, std::string& name) {
  CLI::App* command = app.add_subcommand("template", "check a template, show one that this program has, or list those");
  command->add_option("template", name, "a file, or a name as plumbline template lists it");
  return {command, [&name](const Words&) { return tools::show_template(name); }};
}

Command doctor_command(CLI::App& app, std::string& target, std::string& python) {
  CLI::App* doctor = app.add_subcommand("doctor", "what is recorded and what is not: here, in a process, in a run");
  doctor->add_option("target", target, "a process number or a run; else this machine");
  doctor->add_option("--python", python, "the interpreter whose torch is looked at; else python3 of PATH");
  return {
      doctor, [doctor, &target, &python](const Words&) {
        if (doctor->get_option("target")->count() == 0 || !target.empty()) return tools::doctor(target, python);
        tools::say("doctor: the name of what is to be looked at is empty; give a process number or a run directory");
        return kUsage;
      }};
}

std::string names_of(const std::vector<Command>& commands) {
  std::string names;
  for (const Command& command : commands) names += (names.empty() ? "" : ", ") + command.app->get_name();
  return names;
}

int act(int argc, char** argv) {
  CLI::App app("Records training jobs and tells what was recorded. See also: run-reader.", "plumbline");
  app.set_version_flag("--version", plumbline::recorder::kVersion);
  app.require_subcommand(1);
  tools::LaunchOptions run;
  tools::RerunOptions rerun;
  tools::CollectiveCheckOptions collectives;
  tools::OutputCompareOptions outputs;
  std::string template_name;
  std::string adapter_python;
  std::string doctor_target;
  std::string doctor_python;
  const std::vector<Command> commands = {run_command(app, run),
                                         rerun_command(app, rerun),
                                         collectives_command(app, collectives),
                                         outputs_command(app, outputs),
                                         template_command(app, template_name),
                                         build_command(app, adapter_python),
                                         doctor_command(app, doctor_target, doctor_python)};

  char** const end = argv + argc;
  char** const mark = std::find(argv, end, std::string_view("--"));
  try {
    app.parse(static_cast<int>(mark - argv), argv);
  } catch (const CLI::Success& wanted) {
    return app.exit(wanted);  // help or version
  } catch (const CLI::ParseError& error) {
    tools::say(argc > 1 && argv[1][0] != '-' && app.get_subcommands().empty()
                   ? fmt::format("there is no command {}; there are: {}; plumbline --help tells what they do.",
                                 tools::printable(argv[1]), names_of(commands))
                   : tools::complaint_of(app, error));
    return kUsage;
  }
  const Words rest(mark == end ? end : mark + 1, end);
  for (const Command& command : commands) {
    if (command.app->parsed()) return command.act(rest);
  }
  return kUsage;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return act(argc, argv);
  } catch (const std::exception& error) {
    tools::say(fmt::format("this cannot be done: {}", error.what()));
    return kUsage;
  }
}
