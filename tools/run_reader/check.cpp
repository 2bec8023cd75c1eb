#include "tools/run_reader/check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <ostream>
#include <vector>

#include "checks/capture_doubts.hpp"
#include "checks/capture_losses.hpp"
#include "checks/check.hpp"
#include "checks/loaded_state.hpp"
#include "checks/resume_steps.hpp"
#include "checks/state_checks.hpp"
#include "checks/state_compare.hpp"
#include "checks/state_ranks.hpp"
#include "checks/template_words.hpp"
#include "reader/checkpoint/captured_state.hpp"
#include "reader/checkpoint/checkpoint.hpp"
#include "reader/run_files.hpp"
#include "tools/run_reader/check_text.hpp"
#include "tools/run_reader/exit_code.hpp"
#include "tools/run_reader/json_out.hpp"
#include "tools/run_reader/junit.hpp"
#include "tools/run_reader/state_sources.hpp"
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

Verdict without_reference(const checks::StateCheck& check, const Options& options) {
  return checks::not_evaluated(
      std::string(check.name),
      options.references.empty()
          ? fmt::format("there is nothing to compare {} with: name the original by --reference", options.run)
          : fmt::format("the run {} saved nothing that {} can be compared with: name a checkpoint by --reference",
                        options.references.front(), options.run));
}

int check_files(const Options& options, std::ostream& out, std::ostream& err) {
  const StateSources sources(options);
  if (!sources.complaint().empty()) return complain(err, sources.complaint());
  const reader::Result<Checkpoint> subject = reader::open_checkpoint(options.run);
  if (!subject.ok()) return complain(err, subject.status().message());
  std::vector<Verdict> verdicts;
  for (const checks::StateCheck& one : checks::state_checks()) {
    if (!options.check.empty() && options.check != one.name) continue;
    const Checkpoint* reference = sources.reference(-1);
    verdicts.push_back(reference == nullptr ? without_reference(one, options)
                                            : one.evaluate({&*subject, reference, sources.before()}));
  }
  return report(options, verdicts, false, out, err);
}

// A template of the run says what the original calls its parameters. Returns those that it has no word for.
std::vector<std::string> name_as_reference(reader::CapturedState& captured, const checks::TemplatePairs& names) {
  std::vector<std::string> unnamed;
  for (reader::Tensor& tensor : captured.state.tensors) {
    std::string name = checks::reference_name(names, tensor.name);
    if (!names.empty() && name == tensor.name) unnamed.push_back(name);
    tensor.name = std::move(name);
  }
  captured.state.sort();
  return unnamed;
}

// What the loads of a rank wrote against what was saved.
Verdict check_loads(const reader::RunCaptures& captures, const reader::CapturedState& loads, const Checkpoint& saved) {
  checks::LoadedState state = checks::as_saved(loads.state, saved);
  state.subject.values = checks::loaded_betas(captures, loads.rank);
  Verdict verdict = checks::check_resume({&state.subject, &state.reference});
  if (!state.unseen.empty()) verdict.reason += "; no load shows " + checks::names_text(state.unseen);
  return verdict;
}

// Of what the run itself captured.
Verdict check_captured(const checks::StateCheck& check, reader::RunCaptures& captures, const StateSources& sources,
                       const Context& context) {
  const Options& options = context.options;
  std::vector<reader::CapturedState> states;
  if (check.name == "load") states = loaded_parameters(captures);
  if (check.name == "resume") states = captured_states(captures, "load");
  if (states.empty()) {
    return checks::not_evaluated(std::string(check.name),
                                 "this run captured no state for it; it needs " + std::string(check.needs));
  }
  const checks::TemplatePairs names =
      check.name == "load" ? checks::template_names(context.run) : checks::TemplatePairs{};
  std::vector<checks::RankVerdict> verdicts;
  for (reader::CapturedState& one : states) {
    const Checkpoint* reference = sources.reference(one.rank);
    const std::vector<std::string> unnamed = name_as_reference(one, names);
    Verdict verdict = reference == nullptr     ? without_reference(check, options)
                      : check.name == "resume" ? check_loads(captures, one, *reference)
                                               : check.evaluate({&one.state, reference, sources.before(), unnamed});
    verdict.unknown.insert(verdict.unknown.end(), one.unknown.begin(), one.unknown.end());
    if (!verdict.unknown.empty() && verdict.status == checks::Status::kPass) {
      verdict.status = checks::Status::kInconclusive;
    }
    verdict.reason += " (" + one.source + ")";
    verdicts.push_back({one.rank, std::move(verdict)});
  }
  return over_ranks(std::string(check.name), std::move(verdicts));
}

// What the first steps after a resume say, where they can be compared.
void add_resumed_steps(const checks::Subject& subject, const checks::Subject& reference, Verdict& verdict) {
  if (subject.captures().empty()) return;
  std::vector<std::string> doubts = checks::reference_doubts(subject, reference);
  if (doubts.empty()) {
    verdict = checks::joined_verdict(std::move(verdict),
                                     checks::check_resumed_steps(subject.captures(), reference.captures()));
  } else {
    checks::leave_open(verdict, "the first steps cannot be compared", std::move(doubts));
  }
}

bool is_run(const std::string& path) {
  const auto traces = reader::find_traces(path, true);
  return traces.ok() && !traces->empty();
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
  if (options.run.empty())
    return complain(err,
                    "check " + options.check + ": say of what, " + (of_states ? "a run or a checkpoint." : "a run."));
  if (options.references.size() > 1) return complain(err, "check: give one --reference.");
  if (!reader::looks_like_checkpoint(options.run)) {
    // What is neither is told of as the checkpoint that it should have been.
    if (!of_states || is_run(options.run)) return std::nullopt;
    return check_files(options, out, err);
  }
  if (!options.check.empty() && !of_states) {
    return complain(err, fmt::format("check {} looks at a run, and {} is a checkpoint.", options.check, options.run));
  }
  return check_files(options, out, err);
}

int run_check(const Context& context) {
  const Options& options = context.options;
  std::vector<Verdict> verdicts;
  for (const checks::Check& one : checks::all_checks()) {
    const bool wanted = options.check.empty() ? applies(one, context.subject) : options.check == one.name;
    if (wanted) verdicts.push_back(evaluate(one, context.subject));
  }
  reader::RunCaptures& captures = context.subject.captures();
  StateSources sources(options, loaded_paths(captures));
  if (!sources.complaint().empty()) return complain(context.err, sources.complaint());
  const std::vector<checks::CaptureLoss> losses = checks::capture_losses(context.subject);
  for (const checks::StateCheck& one : checks::state_checks()) {
    const bool wanted = options.check.empty() ? !captures.empty() || !losses.empty() : options.check == one.name;
    if (!wanted) continue;
    Verdict verdict = check_captured(one, captures, sources, context);
    if (const checks::Subject* reference = sources.reference_run()) {
      if (one.name == "resume") add_resumed_steps(context.subject, *reference, verdict);
      checks::qualify(verdict, checks::capture_losses(*reference));
    }
    checks::qualify(verdict, losses);
    verdicts.push_back(std::move(verdict));
  }
  return report(options, verdicts, context.run.stats().data_lost(), context.out, context.err);
}

}  // namespace plumbline::tools
