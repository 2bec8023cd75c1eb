// `diagnose`: what happened, from the whole run down to the line, and what would confirm it.
#include <utility>

#include "checks/diagnosis.hpp"
#include "tools/run_reader/commands.hpp"
#include "tools/run_reader/diagnose_json.hpp"
#include "tools/run_reader/diagnose_text.hpp"
#include "tools/run_reader/exit_code.hpp"
#include "tools/run_reader/explained_memory.hpp"
#include "tools/run_reader/junit.hpp"
#include "tools/run_reader/run_name.hpp"
#include "tools/run_reader/verdict_report.hpp"

namespace plumbline::tools {

int run_diagnose(const Context& context) {
  checks::Diagnosis diagnosis = checks::diagnose(context.subject);
  if (!explain_memory(context, diagnosis.verdicts)) return kExitUsage;
  diagnosis = checks::arranged(std::move(diagnosis.verdicts));
  const int status = exit_code_of(diagnosis.verdicts, context.run.stats().data_lost());
  if (context.options.json) {
    print_json(context.out, diagnosis_json(context, diagnosis, status));
  } else {
    context.out << diagnosis_text(context, diagnosis, Style(context.options.colour));
  }
  return write_junit(context.options.junit, run_name(context), diagnosis.verdicts, context.err) ? status : kExitUsage;
}

}  // namespace plumbline::tools
