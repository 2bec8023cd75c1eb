// A diagnosis for scripts: docs/diagnose.md has the schema, and how checks become test cases of a JUnit file.
#pragma once

#include <string>

#include "checks/diagnosis.hpp"
#include "tools/run_reader/context.hpp"
#include "tools/run_reader/json_out.hpp"

namespace plumbline::tools {

Json diagnosis_json(const Context& context, const checks::Diagnosis& diagnosis, int exit_status);
// One test case a check: a failure where it failed, an error where it is inconclusive, skipped where it had no input.
std::string diagnosis_junit(const Context& context, const checks::Diagnosis& diagnosis);

}  // namespace plumbline::tools
