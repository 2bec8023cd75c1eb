// What the template of a run says to checks: which parameters must agree over which groups, and what the reference
// calls a parameter. The trace has these words as facts.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "checks/replica_sets.hpp"
#include "checks/subject.hpp"

namespace plumbline::checks {

using TemplatePairs = std::vector<std::pair<std::string, std::string>>;  // pattern, what it stands for

// Groups that the run has none of are left out, and told in `unknown`.
std::vector<TemplateReplicas> template_replicas(const Subject& subject, std::vector<std::string>& unknown);

TemplatePairs template_names(const reader::Run& run);
// The first pattern's name for it; as it is where none matches.
std::string reference_name(const TemplatePairs& names, const std::string& name);

}  // namespace plumbline::checks
