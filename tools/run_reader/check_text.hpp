// Verdicts of checks that were asked for, and the list of checks, for people.
#pragma once

#include <span>
#include <string>

#include "checks/verdict.hpp"
#include "tools/run_reader/style.hpp"

namespace plumbline::tools {

// A line a verdict or finding, with its facts and what would confirm it under it.
std::string check_text(std::span<const checks::Verdict> verdicts, const Style& style);

// Every check with the question that it answers and what it needs.
std::string checks_list();

}  // namespace plumbline::tools
