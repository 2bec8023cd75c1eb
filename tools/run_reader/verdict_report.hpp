// Verdicts for people and for scripts.
#pragma once

#include <string>
#include <vector>

#include "checks/check.hpp"
#include "tools/run_reader/json_out.hpp"
#include "tools/run_reader/style.hpp"

namespace plumbline::tools {

// All checks of the run.
std::vector<checks::Verdict> evaluate_all(const checks::Subject& subject);

// Findings first, worst first, each with its details; then one line for each check that found nothing.
std::string verdicts_text(const std::vector<checks::Verdict>& verdicts, const Style& style);
Json verdicts_json(const std::vector<checks::Verdict>& verdicts);

// 1 when a check failed; else 3 when one is inconclusive or data is lost; else 0.
int exit_code_of(const std::vector<checks::Verdict>& verdicts, bool data_lost);

}  // namespace plumbline::tools
