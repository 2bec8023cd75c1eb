// The files beside an exported checkpoint's tensors: settings, generation, tokenizer.
#pragma once

#include <vector>

#include "checks/verdict.hpp"
#include "reader/checkpoint/checkpoint.hpp"

namespace plumbline::checks {

std::vector<Finding> export_settings_findings(const reader::Checkpoint& subject, const reader::Checkpoint& reference);

}  // namespace plumbline::checks
