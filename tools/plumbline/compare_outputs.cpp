#include "tools/plumbline/compare_outputs.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <iostream>
#include <system_error>
#include <vector>

#include "checks/outputs.hpp"
#include "tools/plumbline/interpreter.hpp"
#include "tools/plumbline/output_results.hpp"
#include "tools/plumbline/say.hpp"
#include "tools/plumbline/source_files.hpp"
#include "tools/plumbline/subprocess.hpp"
#include "tools/plumbline/temporary_directory.hpp"
#include "tools/run_reader/check_text.hpp"
#include "tools/run_reader/exit_code.hpp"
#include "tools/run_reader/json_out.hpp"
#include "tools/run_reader/text.hpp"
#include "tools/run_reader/verdict_report.hpp"

namespace plumbline::tools {
namespace {

namespace fs = std::filesystem;

int refuse(const std::string& sentence) {
  say(printable(sentence));
  return kExitUsage;
}

// Empty: it looks like a model's directory.
std::string why_no_model(const std::string& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (!fs::exists(status)) return fmt::format("{} is not there", path.empty() ? "''" : path);
  if (!fs::is_directory(status)) {
    return fmt::format("{} is a file; give the directory that holds it together with config.json", path);
  }
  if (access(path.c_str(), R_OK | X_OK) != 0) return fmt::format("{} may not be read by this user", path);
  if (!fs::exists(fs::path(path) / "config.json", error)) {
    return fmt::format("{} has no config.json, so it is no model that transformers can load", path);
  }
  return {};
}

std::string absolute(const std::string& path) {
  std::error_code error;
  const fs::path whole = fs::absolute(path, error);
  return error ? path : whole.string();
}

// What a script that died says of itself: the last line that it wrote.
std::string last_line(const std::string& text) {
  const auto end = text.find_last_not_of(" \n");
  if (end == std::string::npos) return {};
  const auto begin = text.rfind('\n', end);
  return text.substr(begin == std::string::npos ? 0 : begin + 1,
                     end - (begin == std::string::npos ? 0 : begin + 1) + 1);
}

std::string why_no_result(const OutputResults& results, const std::string& python, const Finished& finished) {
  if (!results.refused.empty()) return results.refused;
  const std::string where = results.stage.empty() ? "before it began" : "while " + results.stage;
  if (finished.status == 128 + 9) {
    return fmt::format("{} was killed {}, as when memory runs out: it holds one of the two models at a time", python,
                       where);
  }
  return fmt::format("{} ended with status {} {}: {}", python, finished.status, where, last_line(finished.errors));
}

int report(const OutputCompareOptions& options, const checks::OutputComparison& comparison) {
  const std::vector<checks::Verdict> verdicts = {checks::check_outputs(comparison)};
  const int status = exit_code_of(verdicts, false);
  if (options.json) {
    print_json(std::cout, {{"schema", "plumbline.check.1"},
                           {"subject", options.exported},
                           {"references", std::vector<std::string>{options.original}},
                           {"exit_status", status},
                           {"verdicts", verdicts_json(verdicts)}});
  } else {
    std::cout << check_text(verdicts, Style(isatty(STDOUT_FILENO) == 1));
  }
  return status;
}

}  // namespace

int compare_outputs(const OutputCompareOptions& options) {
  for (const std::string& path : {options.original, options.exported}) {
    if (const std::string why = why_no_model(path); !why.empty()) return refuse(why);
  }
  if (!options.prompts.empty() && access(options.prompts.c_str(), R_OK) != 0) {
    return refuse(fmt::format("--prompts {}: there is no such file, or it may not be read", options.prompts));
  }
  const std::string python = options.python.empty() ? find_interpreter({}) : options.python;
  if (python.empty()) return refuse("no python3 in PATH; name one with --python");
  if (find_program(python).empty()) return refuse(fmt::format("--python {}: there is no such program", python));
  const TemporaryDirectory place("plumbline-outputs");
  const std::string script = place.path().empty() ? "" : write_source(kOutputProbes[0], place.path().string());
  if (script.empty()) return refuse("the temporary directory (TMPDIR) cannot be written to");
  const std::string output = (place.path() / "result.jsonl").string();
  std::vector<std::string> command = {python,       script,
                                      "--original", absolute(options.original),
                                      "--exported", absolute(options.exported),
                                      "--output",   output,
                                      "--device",   options.device,
                                      "--tokens",   std::to_string(options.tokens)};
  if (!options.prompts.empty()) command.insert(command.end(), {"--prompts", options.prompts});
  if (options.trust_remote_code) command.emplace_back("--trust-remote-code");
  const Finished finished = run_program(command);
  const OutputResults results = read_output_results(output);
  if (!results.comparison) return refuse(why_no_result(results, python, finished));
  return report(options, *results.comparison);
}

}  // namespace plumbline::tools
