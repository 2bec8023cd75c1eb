#include "tools/run_reader/coverage.hpp"

#include "tools/run_reader/text.hpp"

namespace plumbline::tools {

std::string coverage_text(const Context& context, const std::vector<checks::CoverageGap>& gaps) {
  std::string text;
  for (const checks::CoverageGap& gap : gaps) {
    text += wrapped("  " + printable(checks::gap_text(context.subject, gap)), 4) + '\n';
  }
  return text;
}

Json coverage_json(const std::vector<checks::CoverageGap>& gaps) {
  Json json = Json::array();
  for (const checks::CoverageGap& gap : gaps) json.push_back({{"what", gap.what}, {"ranks", gap.ranks}});
  return json;
}

}  // namespace plumbline::tools
