// A diagnosis for people: one root in the order of the descent, what follows from it, and what else was found.
#pragma once

#include <string>

#include "checks/diagnosis.hpp"
#include "tools/run_reader/context.hpp"
#include "tools/run_reader/style.hpp"

namespace plumbline::tools {

std::string diagnosis_text(const Context& context, const checks::Diagnosis& diagnosis, const Style& style);

}  // namespace plumbline::tools
