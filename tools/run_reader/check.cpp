#include "tools/run_reader/check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <ostream>
#include <vector>

#include "checks/check.hpp"
#include "checks/state_checks.hpp"
#include "reader/checkpoint/checkpoint.hpp"
#include "tools/run_reader/check_text.hpp"
#include "tools/run_reader/exit_code.hpp"
#include "tools/run_reader/json_out.hpp"
#include "tools/run_reader/junit.hpp"
#include "tools/run_reader/text.hpp"
#include "tools/run_reader/verdict_report.hpp"

namespace plumbline::tools {
namespace {

using checks::Verdict;
using reader::Checkpoint;

const checks::StateCheck* state_check(std::string_view name) {
  for (const checks::StateCheck& one : checks::state_checks()) {
    if (one.name == name) return &one;
  }
  return nullptr;
}

const checks::Check* run_check_named(std::string_view name) {
  for (const checks::Check& one : checks::all_checks()) {
    if (one.name == name) return &one;
  }
  return nullptr;
}

int complain(std::ostream& err, const std::string& sentence) {
  err << "run-reader: " << printable(sentence) << '\n';
  return kExitUsage;
}

std::string unknown_check(const std::string& name) {
  std::vector<std::string> names;
  for (const checks::Check& one : checks::all_checks()) names.emplace_back(one.name);
  for (const checks::StateCheck& one : checks::state_checks()) names.emplace_back(one.name);
  return fmt::format("there is no check {}; there are: {}; run-reader check tells what each answers.",
                     name.empty() ? "''" : name, joined(names, ", "));
}

// Writes the verdicts as asked for, and gives the exit status.
int report(const Options& options, const std::vector<Verdict>& verdicts, bool data_lost, std::ostream& out,
           std::ostream& err) {
  int status = exit_code_of(verdicts, data_lost);
  // Asked for by name, a check that had nothing to look at has not answered.
  const bool unanswered =
      !options.check.empty() && verdicts.size() == 1 && verdicts.front().status == checks::Status::kNotEvaluated;
  if (status == kExitFine && unanswered) status = kExitInconclusive;
  if (options.json) {
    print_json(out, {{"schema", "plumbline.check.1"},
                     {"subject", options.run},
                     {"references", options.references},
                     {"exit_status", status},
                     {"verdicts", verdicts_json(verdicts)}});
  } else {
    out << check_text(verdicts, Style(options.colour));
  }
  return write_junit(options.junit, options.run, verdicts, err) ? status : kExitUsage;
}

// The states that a check compares.
struct States {
  std::optional<Checkpoint> subject;
  std::optional<Checkpoint> reference;
  std::optional<Checkpoint> before;
};

bool open_into(const std::string& path, std::optional<Checkpoint>& to, std::ostream& err) {
  if (path.empty()) return true;
  reader::Result<Checkpoint> opened = reader::open_checkpoint(path);
  if (opened.ok()) {
    to = std::move(*opened);
    return true;
  }
  complain(err, opened.status().message());
  return false;
}

Verdict evaluate(const checks::StateCheck& check, const States& states, const Options& options) {
  if (!states.reference) {
    return {std::string(check.name),
            checks::Status::kNotEvaluated,
            fmt::format("there is nothing to compare {} with: name the original by --reference", options.run),
            {},
            {}};
  }
  return check.evaluate({&*states.subject, &*states.reference, states.before ? &*states.before : nullptr});
}

int check_states(const Options& options, std::ostream& out, std::ostream& err) {
  States states;
  const std::string reference = options.references.empty() ? "" : options.references.front();
  if (!open_into(options.run, states.subject, err) || !open_into(reference, states.reference, err) ||
      !open_into(options.before, states.before, err)) {
    return kExitUsage;
  }
  std::vector<Verdict> verdicts;
  for (const checks::StateCheck& one : checks::state_checks()) {
    if (options.check.empty() || options.check == one.name) verdicts.push_back(evaluate(one, states, options));
  }
  return report(options, verdicts, false, out, err);
}

}  // namespace

std::optional<int> check_without_run(const Options& options, std::ostream& out, std::ostream& err) {
  if (options.check.empty() && options.run.empty()) {
    out << checks_list();
    return kExitFine;
  }
  const bool of_states = state_check(options.check) != nullptr;
  if (!options.check.empty() && !of_states && run_check_named(options.check) == nullptr) {
    return complain(err, unknown_check(options.check));
  }
  if (options.run.empty()) return complain(err, "check " + options.check + ": say of what, a run or a checkpoint.");
  if (options.references.size() > 1) return complain(err, "check: give one --reference.");
  if (!reader::looks_like_checkpoint(options.run)) return std::nullopt;
  if (!options.check.empty() && !of_states) {
    return complain(err, fmt::format("check {} looks at a run, and {} is a checkpoint.", options.check, options.run));
  }
  return check_states(options, out, err);
}

int run_check(const Context& context) {
  const Options& options = context.options;
  std::vector<Verdict> verdicts;
  for (const checks::Check& one : checks::all_checks()) {
    if (options.check.empty() || options.check == one.name) verdicts.push_back(one.evaluate(context.subject));
  }
  for (const checks::StateCheck& one : checks::state_checks()) {
    if (!options.check.empty() && options.check != one.name) continue;
    verdicts.push_back({std::string(one.name),
                        checks::Status::kNotEvaluated,
                        "this run captured no state; it needs " + std::string(one.needs),
                        {},
                        {}});
  }
  return report(options, verdicts, context.run.stats().data_lost(), context.out, context.err);
}

}  // namespace plumbline::tools
