// The report as one page that needs nothing else: no script, no network, no further file.
#pragma once

#include <string>
#include <vector>

#include "checks/verdict.hpp"
#include "tools/run_reader/context.hpp"

namespace plumbline::tools {

std::string report_page(const Context& context, const std::vector<checks::Verdict>& verdicts);

}  // namespace plumbline::tools
