#include "tools/plumbline/launch.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <sstream>

#include "recorder/settings.hpp"
#include "tools/plumbline/adapter_build.hpp"
#include "tools/plumbline/interpreter.hpp"
#include "tools/plumbline/recording_place.hpp"
#include "tools/plumbline/say.hpp"
#include "tools/plumbline/subprocess.hpp"
#include "tools/plumbline/torch_install.hpp"
#include "tools/run_reader/text.hpp"

namespace plumbline::tools {
namespace {

namespace fs = std::filesystem;

constexpr int kNoProgram = 126;
constexpr int kNotThere = 127;

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

// One name for all ranks of this launch.
std::string launch_name() {
  const std::time_t now = std::time(nullptr);
  std::tm local{};
  localtime_r(&now, &local);
  std::array<char, 32> text{};
  std::strftime(text.data(), text.size(), "%Y%m%d-%H%M%S", &local);
  return fmt::format("plumbline-run-{}-{}", text.data(), getpid());
}

// PLUMBLINE_RUN of the job: an absolute path, because a job may change its directory.
std::string run_directory(const std::string& wanted, const recorder::Settings& settings) {
  if (wanted.empty() && !settings.run_directory.empty()) return absolute_path(settings.run_directory).string();
  const std::string base = wanted.empty() ? settings.base_directory : wanted;
  return (absolute_path(base.empty() ? "." : base) / launch_name()).lexically_normal().string();
}

void prepare_adapter(const LaunchOptions& options, const recorder::Settings& settings) {
  const std::string python = options.python.empty() ? find_interpreter(options.command) : options.python;
  TorchInstall torch;
  std::string why;
  if (python.empty()) {
    why = "no Python was found";
  } else if (find_torch(python, torch, why)) {
    why = make_adapter(torch, settings.cache, say).why;
  }
  if (!why.empty()) {
    say(why + "; optimizer steps and the arguments of collectives are not recorded, and a job without collectives " +
        "leaves no trace at all (see plumbline build-adapter)");
  }
}

// Why the job is to run unrecorded; empty when it is not.
std::string switched_off(const LaunchOptions& options, const recorder::Settings& settings) {
  if (settings.disabled) return "PLUMBLINE_DISABLE is set";
  if (options.level == "off" || (options.level.empty() && settings.level == recorder::Level::kOff)) {
    return "the level is off";
  }
  return "";
}

void prepare(const LaunchOptions& options) {
  const recorder::Settings settings = recorder::load_settings();
  for (const std::string& complaint : settings.complaints) say("setting: " + complaint);
  if (!options.level.empty()) setenv("PLUMBLINE_LEVEL", options.level.c_str(), 1);
  const std::string directory = run_directory(options.directory, settings);
  setenv("PLUMBLINE_RUN", directory.c_str(), 1);
  if (const std::string why = switched_off(options, settings); !why.empty()) {
    return say(why + "; the job runs unrecorded");
  }
  prepare_adapter(options, settings);
  if (const std::string why = recording_block(directory, settings.memory_bytes); !why.empty()) {
    return say(fmt::format("{} {}; the job runs unrecorded", directory, why));
  }
  say("recording into " + directory);
}

bool can_be_preloaded(const std::string& object) { return object.find_first_of(" :") == std::string::npos; }

// False, after a word on stderr, when the job has to run alone.
bool preload() {
  const std::string object = find_preload_object();
  if (object.empty()) {
    say("libplumbline.so is not beside this program; the job runs unrecorded");
    return false;
  }
  if (!can_be_preloaded(object)) {
    say(fmt::format("{} cannot be preloaded, its path has a space or a colon; the job runs unrecorded", object));
    return false;
  }
  setenv("LD_PRELOAD", with_preload(environment("LD_PRELOAD"), object).c_str(), 1);
  return true;
}

int become(const std::vector<std::string>& command) {
  std::vector<char*> argv;
  argv.reserve(command.size() + 1);
  for (const auto& word : command) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  execvp(argv[0], argv.data());
  const int error = errno;
  say(fmt::format("{} cannot be started: {}", command[0], std::strerror(error)));
  return error == ENOENT ? kNotThere : kNoProgram;
}

// Before anything is made ready for it. As a shell does: 127 for what is not there, 126 for what is no program.
int examine_program(const std::string& name) {
  if (!find_program(name).empty()) return 0;
  std::error_code error;
  const bool there = name.find('/') != std::string::npos && fs::exists(name, error);
  say(fmt::format("{} {}", name.empty() ? "''" : printable(name),
                  there ? "cannot be started: it is no program, or may not be executed; give its interpreter first"
                        : "cannot be started: there is no such program; give its path, or add its place to PATH"));
  return there ? kNoProgram : kNotThere;
}

}  // namespace

std::string find_preload_object() {
  std::error_code error;
  const fs::path own = fs::read_symlink("/proc/self/exe", error).parent_path();
  for (const char* place : {"libplumbline.so", "../lib/libplumbline.so", "../lib64/libplumbline.so"}) {
    const fs::path candidate = (own / place).lexically_normal();
    if (fs::exists(candidate, error)) return candidate.string();
  }
  return "";
}

std::string with_preload(const std::string& existing, const std::string& object) {
  std::string words = existing;
  std::replace(words.begin(), words.end(), ':', ' ');
  std::istringstream split(words);
  for (std::string word; split >> word;) {
    if (word == object) return existing;
  }
  return existing.empty() ? object : existing + ":" + object;
}

int launch(const LaunchOptions& options) {
  if (const int status = examine_program(options.command.front()); status != 0) return status;
  if (preload()) prepare(options);
  return become(options.command);
}

}  // namespace plumbline::tools
