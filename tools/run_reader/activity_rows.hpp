// Optimizers and ranges by name, over all ranks.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tools/run_reader/context.hpp"
#include "tools/run_reader/json_out.hpp"
#include "tools/run_reader/table.hpp"

namespace plumbline::tools {

struct ActivityRow {
  std::string name;
  std::vector<std::int32_t> ranks;
  std::uint64_t count = 0;  // of all ranks
  std::uint64_t least = 0;  // of the rank with fewest, among those that have it
  std::uint64_t most = 0;
  std::uint64_t outermost = 0;  // optimizer steps that no other one encloses
  std::uint64_t raised = 0;
  std::uint64_t nanoseconds = 0;

  std::uint64_t mean_ns() const { return count == 0 ? 0 : nanoseconds / count; }
};

// Longest in all first.
std::vector<ActivityRow> optimizer_rows(const Context& context);
std::vector<ActivityRow> range_rows(const Context& context);

Table optimizer_table(const std::vector<ActivityRow>& rows);
Table range_table(const std::vector<ActivityRow>& rows, std::size_t most);
Json activity_json(const std::vector<ActivityRow>& rows);

}  // namespace plumbline::tools
