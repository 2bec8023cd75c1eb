// `diagnose`: what happened, from the whole run down to the line, and what would confirm it.
#include <fstream>

#include "checks/diagnosis.hpp"
#include "tools/run_reader/commands.hpp"
#include "tools/run_reader/diagnose_json.hpp"
#include "tools/run_reader/diagnose_text.hpp"
#include "tools/run_reader/exit_code.hpp"
#include "tools/run_reader/text.hpp"
#include "tools/run_reader/verdict_report.hpp"

namespace plumbline::tools {

int run_diagnose(const Context& context) {
  const checks::Diagnosis diagnosis = checks::diagnose(context.subject);
  const int status = exit_code_of(diagnosis.verdicts, context.run.stats().data_lost());
  if (context.options.json) {
    print_json(context.out, diagnosis_json(context, diagnosis, status));
  } else {
    context.out << diagnosis_text(context, diagnosis, Style(context.options.colour));
  }
  if (context.options.junit.empty()) return status;
  std::ofstream file(context.options.junit, std::ios::binary);
  file << diagnosis_junit(context, diagnosis);
  file.close();
  if (file) return status;
  context.err << "run-reader: " << printable(context.options.junit) << " cannot be written.\n";
  return kExitUsage;
}

}  // namespace plumbline::tools
