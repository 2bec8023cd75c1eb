// Allocator activity by rank, source and device.
#pragma once

#include <cstdint>
#include <vector>

#include "reader/allocations.hpp"
#include "tools/run_reader/context.hpp"
#include "tools/run_reader/json_out.hpp"
#include "tools/run_reader/table.hpp"

namespace plumbline::tools {

struct AllocationRow {
  std::int32_t rank = -1;
  std::int32_t attempt = 0;
  std::size_t trace = 0;
  std::int64_t resident_peak_bytes = 0;
  reader::AllocationStats stats;
};

// By rank, then by peak.
std::vector<AllocationRow> allocation_rows(const Context& context);
Table allocation_table(const std::vector<AllocationRow>& rows, std::size_t most);
Json allocation_json(const Context& context, const std::vector<AllocationRow>& rows);

}  // namespace plumbline::tools
