// What a run did not record, and why: hooks that were off, an adapter that was missing, settings that were refused,
// data that is lost. Silence about these would be the worst answer.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tools/run_reader/context.hpp"
#include "tools/run_reader/json_out.hpp"

namespace plumbline::tools {

struct CoverageGap {
  std::string what;                 // one sentence, the same for all its ranks
  std::vector<std::int32_t> ranks;  // empty: the whole run
};

std::vector<CoverageGap> coverage_gaps(const Context& context);
std::string coverage_text(const Context& context, const std::vector<CoverageGap>& gaps);
Json coverage_json(const std::vector<CoverageGap>& gaps);

}  // namespace plumbline::tools
