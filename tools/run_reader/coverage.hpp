// What a run did not record (checks/coverage.hpp), for people and for scripts.
#pragma once

#include <string>
#include <vector>

#include "checks/coverage.hpp"
#include "tools/run_reader/context.hpp"
#include "tools/run_reader/json_out.hpp"

namespace plumbline::tools {

using checks::CoverageGap;

inline std::vector<CoverageGap> coverage_gaps(const Context& context) { return checks::coverage_gaps(context.subject); }
std::string coverage_text(const Context& context, const std::vector<CoverageGap>& gaps);
Json coverage_json(const std::vector<CoverageGap>& gaps);

}  // namespace plumbline::tools
