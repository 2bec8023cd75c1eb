// A diagnosis for scripts: docs/diagnose.md has the schema.
#pragma once

#include "checks/diagnosis.hpp"
#include "tools/run_reader/context.hpp"
#include "tools/run_reader/json_out.hpp"

namespace plumbline::tools {

Json diagnosis_json(const Context& context, const checks::Diagnosis& diagnosis, int exit_status);

}  // namespace plumbline::tools
