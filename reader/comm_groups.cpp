#include "reader/comm_groups.hpp"

#include <array>
#include <cstdio>
#include <vector>

#include "reader/column_decoder.hpp"
#include "recorder/trace_generated.h"

namespace plumbline::reader {
namespace {

// A row takes at least a byte of its message, except in a batch of a few equal rows.
constexpr std::size_t kFreeRows = 256;

// Communicators are named after the unique id that their ranks share.
std::string name_of_comm(std::uint64_t unique_id_hash) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "nccl-%016llx", static_cast<unsigned long long>(unique_id_hash));
  return text.data();
}

bool ranks_unknown(const Group& group) { return group.ranks.size() == 1 && group.ranks.front() < 0; }

}  // namespace

void CommGroups::add(const trace::Comms& comms, std::size_t message_bytes) {
  const std::size_t count = comms.count();
  if (count > message_bytes + kFreeRows) return;
  std::vector<std::uint64_t> hash(count);
  std::vector<std::uint64_t> group(count);
  std::vector<std::uint64_t> rank(count);
  if (decode_column(comms.unique_id_hash(), hash) && decode_column(comms.group(), group) &&
      decode_column(comms.rank(), rank))
    add(hash, group, rank);
}

void CommGroups::add(std::span<const std::uint64_t> unique_id_hash, std::span<const std::uint64_t> group,
                     std::span<const std::uint64_t> rank) {
  for (std::size_t row = 0; row < unique_id_hash.size(); ++row) {
    if (unique_id_hash[row] == 0 || group[row] == 0) continue;
    makers_[name_of_comm(unique_id_hash[row])] = {group[row], static_cast<int>(static_cast<std::int64_t>(rank[row]))};
  }
}

void CommGroups::complete(Definitions& definitions) const {
  for (Group& group : definitions.groups) {
    if (!ranks_unknown(group)) continue;
    const auto maker = makers_.find(group.name);
    if (maker == makers_.end()) continue;
    const Group* process_group = definitions.group(maker->second.process_group);
    // Sends and receives have communicators of two, whatever the size of their process group.
    if (process_group == nullptr || process_group->size != group.size || ranks_unknown(*process_group)) continue;
    if (process_group->rank != maker->second.rank || process_group->rank != group.rank) continue;
    group.ranks = process_group->ranks;
  }
}

}  // namespace plumbline::reader
