#include "reader/import/text/ras_comm.hpp"

#include <algorithm>
#include <numeric>

namespace plumbline::reader::imports {

void add_ras_comm(LogProcesses& processes, const RasComm& comm) {
  std::vector<int> ranks(std::min(comm.size, kMostRasRanks));
  std::iota(ranks.begin(), ranks.end(), 0);
  for (const RasRank& row : comm.ranks) {
    ImportedProcess& process = processes.of(row.rank, row.pid);
    if (process.host.empty()) process.host = row.host;
    process.world_size = std::max(process.world_size, static_cast<int>(ranks.size()));
    if (!row.status.empty()) process.facts.emplace_back("log.ras_status", row.status);
    if (comm.observations > 1)
      process.facts.emplace_back("log.ras_unchanged_reports", std::to_string(comm.observations));
    for (const auto& [operation, count] : row.launched) {
      ImportedGroup group{
          comm.hash + " " + operation, operation + " of communicator " + comm.hash, "nccl", ranks, row.rank, {}};
      group.status.emplace().enqueued = count;
      process.group(group);
    }
    if (row.launched.empty()) process.group({comm.hash, "communicator " + comm.hash, "nccl", ranks, row.rank, {}});
  }
  processes.count("communicator");
}

bool is_ras_json(const PlainData& data) { return data.member(data.root(), "communicators").is_list(); }

void add_ras_json(LogProcesses& processes, const PlainData& data) {
  const std::string version(data.text(data.member(data.root(), "nccl_version")));
  for (const Value entry : data.items(data.member(data.root(), "communicators"))) {
    RasComm comm;
    comm.hash = data.text(data.member(entry, "hash"));
    comm.size = static_cast<std::size_t>(std::max<std::int64_t>(data.integer_or(data.member(entry, "size"), 0), 0));
    for (const Value one : data.items(data.member(entry, "ranks"))) {
      RasRank& row = comm.ranks.emplace_back();
      row.rank = static_cast<int>(data.integer_or(data.member(one, "rank"), -1));
      row.pid = static_cast<std::uint32_t>(data.integer_or(data.member(one, "pid"), 0));
      row.host = data.text(data.member(one, "host"));
      const auto counts = data.items(data.member(one, "collective_counts"));
      for (std::size_t i = 0; i + 1 < counts.size(); i += 2)
        row.launched[std::string(data.text(counts[i]))] = data.integer_or(counts[i + 1], -1);
      const Value status = data.member(one, "status");
      for (const char* const flag : {"abort_flag", "destroy_flag", "finalize_called"})
        if (data.truth(data.member(status, flag))) row.status += (row.status.empty() ? "" : ", ") + std::string(flag);
    }
    add_ras_comm(processes, comm);
    for (const RasRank& row : comm.ranks)
      if (!version.empty()) processes.of_rank(row.rank).facts.emplace_back("nccl", version);
  }
}

}  // namespace plumbline::reader::imports
