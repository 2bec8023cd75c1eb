// Collectives of a run by group and operation, over all ranks.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tools/run_reader/context.hpp"
#include "tools/run_reader/json_out.hpp"
#include "tools/run_reader/table.hpp"

namespace plumbline::tools {

struct CollectiveRow {
  std::string group;  // for people
  std::string group_name;
  std::string backend;
  std::vector<std::int32_t> group_ranks;
  reader::Layer layer = reader::Layer::kC10d;
  reader::Op op = reader::Op::kUnknown;
  std::vector<std::int32_t> ranks;  // that called
  std::uint64_t calls = 0;          // of all ranks
  std::uint64_t least = 0;          // calls of the rank with fewest, among those that called
  std::uint64_t most = 0;
  std::uint64_t bytes_in = 0;
  std::uint64_t bytes_out = 0;
  std::uint64_t pending = 0;
  std::uint64_t failed = 0;
  std::uint64_t completed = 0;  // with an end that was seen
  std::uint64_t busy_ns = 0;    // of those
  std::uint64_t longest_ns = 0;
};

// Outermost calls; most bytes first.
std::vector<CollectiveRow> collective_rows(const Context& context);
Table collective_table(const std::vector<CollectiveRow>& rows, std::size_t most);
Json collective_json(const std::vector<CollectiveRow>& rows);

}  // namespace plumbline::tools
