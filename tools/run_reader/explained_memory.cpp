#include "tools/run_reader/explained_memory.hpp"

#include "checks/memory.hpp"
#include "tools/run_reader/memory_input.hpp"
#include "tools/run_reader/text.hpp"

namespace plumbline::tools {

bool explain_memory(const Context& context, std::vector<checks::Verdict>& verdicts) {
  if (context.options.config.empty() && context.options.dims.empty()) return true;
  const auto dimensions = run_dimensions(context.options.config, context.options.dims);
  if (!dimensions.ok()) {
    context.err << "run-reader: " << printable(dimensions.status().message()) << '\n';
    return false;
  }
  for (checks::Verdict& verdict : verdicts) {
    if (verdict.check == "memory")
      verdict = check_memory(context.subject, checks::memory_profiles(context.subject, false), *dimensions);
  }
  return true;
}

}  // namespace plumbline::tools
