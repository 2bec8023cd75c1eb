#include "tools/plumbline/doctor.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdio>
#include <filesystem>
#include <system_error>

#include "tools/plumbline/say.hpp"
#include "tools/run_reader/text.hpp"

namespace plumbline::tools {
namespace {

constexpr int kFine = 0;
constexpr int kFound = 1;
constexpr int kUsage = 2;

std::optional<int> as_process_number(const std::string& text) {
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size() || number <= 0) return std::nullopt;
  return number;
}

std::optional<Findings> examine(const std::string& target, const std::string& python, std::string& why) {
  if (target.empty()) return examine_machine(python);
  std::error_code ignored;
  const auto pid = as_process_number(target);
  if (std::filesystem::exists(target, ignored)) return examine_run(target, why);
  why = fmt::format("there is no process {} here, and no run of that name; give a process number or a run directory",
                    printable(target));
  return pid ? examine_process(*pid) : std::nullopt;
}

}  // namespace

int doctor(const std::string& target, const std::string& python) {
  std::string why;
  const std::optional<Findings> findings = examine(target, python, why);
  if (!findings) {
    say(why);
    return kUsage;
  }
  fmt::print("{}", findings->text());
  return findings->any_problem() ? kFound : kFine;
}

}  // namespace plumbline::tools
