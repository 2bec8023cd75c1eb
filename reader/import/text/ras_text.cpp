#include "reader/import/text/ras_text.hpp"

#include <algorithm>

#include "reader/import/flight_names.hpp"
#include "reader/import/text/ras_comm.hpp"

namespace plumbline::reader::imports {

bool RasText::line(const LogLine& line) {
  std::string_view text = line.text;
  if (text.starts_with("Communicators...") || text.starts_with("RAS Monitor Mode") ||
      (text.starts_with("NCCL version ") && text.find("compiled with CUDA") != std::string_view::npos)) {
    close();
    if (take_word(text, "NCCL version "))
      processes_.of_rank(-1).facts.emplace_back("nccl", text.substr(0, text.find(' ')));
    processes_.count("ncclras report");
    in_report_ = true;
    return true;
  }
  if (text.starts_with("Group ") && text.find("Comms") != std::string_view::npos) {
    in_table_ = in_report_ = true;
    return true;
  }
  if (table_line(text)) return true;
  if (text.find("] PEER_DEAD: ") != std::string_view::npos || text.starts_with("  Process ")) {
    dead_.emplace_back(text.substr(text.find("Process ")));
    return in_report_ || text.find("PEER_DEAD") != std::string_view::npos;
  }
  return comm_line(text);
}

// "    0         1         4       7-8        32        32   RUNNING  INCOMPLETE": group, communicators, nodes and
// ranks per communicator, ranks in the group.
bool RasText::table_line(std::string_view text) {
  if (!in_table_) return false;
  std::string_view rest = text;
  const auto skip = [&] {
    while (rest.starts_with(' ')) rest.remove_prefix(1);
  };
  skip();
  if (rest.starts_with("#  in group")) return true;
  const auto group = take_number(rest);
  if (!group) {
    in_table_ = false;
    return false;
  }
  for (int column = 0; column < 3; ++column) {  // communicators, nodes per communicator, ranks per node
    skip();
    rest.remove_prefix(std::min(rest.find(' '), rest.size()));
  }
  skip();
  sizes_[static_cast<int>(*group)] = static_cast<std::size_t>(std::max<std::int64_t>(take_number(rest).value_or(0), 0));
  return true;
}

bool RasText::comm_line(std::string_view text) {
  std::string_view rest = text;
  if (text.starts_with('#') && text.find(" (") != std::string_view::npos) {
    close();
    comm_.name = text.substr(0, text.find(' '));
    comm_.hash = between(text, "(", ")");
    comm_.error = text.substr(std::min(text.find(") ") + 2, text.size()));
    take_word(rest, "#");
    if (const auto group = take_number(rest); group && sizes_.contains(static_cast<int>(*group)))
      comm_.size = sizes_[static_cast<int>(*group)];
    open_ = true;
    return true;
  }
  if (!open_) return false;
  if (text.empty() || !take_word(rest, "  ")) {
    close();
    return text.empty();
  }
  if (rest.find(" operation counts") != std::string_view::npos) {
    comm_.operation = between(rest, "different ", " operation counts");
  } else if (take_word(rest, "Rank ")) {
    const auto rank = take_number(rest);
    if (!rank || *rank < 0) return true;
    const int number = static_cast<int>(*rank);
    if (const auto launched = number_after(rest, "launched up to operation "))
      comm_.launched[number] = *launched;
    else if (missing_follow_)
      comm_.missing.push_back(number);
    else if (count_ >= 0)
      comm_.launched[number] = count_;
    else if (!status_.empty())
      comm_.statuses[number] = status_;
    if (const std::size_t dashes = rest.find("-- "); dashes != std::string_view::npos)
      comm_.processes[number] = rest.substr(dashes + 3);
  } else if (rest.find("The missing rank") != std::string_view::npos) {
    for (const int rank : parse_ranks(rest.substr(std::min(rest.find(':'), rest.size()))))
      comm_.missing.push_back(rank);
  } else if (rest.starts_with("Missing communicator data")) {
    missing_follow_ = true;
  } else if (const auto ranks = take_number(rest);
             ranks && rest.find("launched up to operation") != std::string_view::npos) {
    count_ = number_after(rest, "up to operation ").value_or(-1);
    if (static_cast<std::size_t>(*ranks) > comm_.common_ranks) {
      comm_.common = count_;
      comm_.common_ranks = static_cast<std::size_t>(*ranks);
    }
  } else if (const std::size_t at = rest.find("have status "); at != std::string_view::npos) {
    status_ = rest.substr(at + 12);
  }
  return true;
}

void RasText::close() {
  if (open_) {
    const auto same = std::find_if(comms_.begin(), comms_.end(), [&](const Comm& one) {
      return one.hash == comm_.hash && one.operation == comm_.operation && one.error == comm_.error;
    });
    if (same == comms_.end()) {
      comms_.push_back(comm_);
    } else {
      // The same communicator in a later report: with the same numbers it does not move.
      comm_.seen = same->launched == comm_.launched && same->common == comm_.common ? same->seen + 1 : 1;
      *same = comm_;
    }
  }
  comm_ = {};
  open_ = missing_follow_ = false;
  count_ = -1;
  status_.clear();
}

void RasText::write(const Comm& comm) {
  std::size_t size = comm.size;
  if (size == 0) size = comm.common_ranks + comm.launched.size();
  for (const auto& [rank, count] : comm.launched)
    size = std::max<std::size_t>(size, static_cast<std::size_t>(rank) + 1);
  for (const int rank : comm.missing) size = std::max<std::size_t>(size, static_cast<std::size_t>(rank) + 1);
  RasComm report;
  report.hash = comm.hash;
  report.size = std::min(size, kMostRasRanks);
  for (std::size_t i = 0; i < report.size; ++i) {
    const int rank = static_cast<int>(i);
    if (std::find(comm.missing.begin(), comm.missing.end(), rank) != comm.missing.end()) continue;
    RasRank& row = report.ranks.emplace_back();
    row.rank = rank;
    const auto launched = comm.launched.find(rank);
    if (launched != comm.launched.end() || comm.common >= 0)
      row.launched[comm.operation.empty() ? "all" : comm.operation] =
          launched != comm.launched.end() ? launched->second : comm.common;
    if (const auto at = comm.processes.find(rank); at != comm.processes.end()) {
      row.pid = static_cast<std::uint32_t>(number_after(at->second, "managed by process ").value_or(0));
      if (const std::size_t node = at->second.rfind("on node "); node != std::string::npos)
        row.host = at->second.substr(node + 8);
    }
    if (const auto at = comm.statuses.find(rank); at != comm.statuses.end()) row.status = at->second;
  }
  report.observations = comm.seen;
  add_ras_comm(processes_, report);
}

void RasText::finish() {
  close();
  for (const Comm& comm : comms_) write(comm);
  for (std::size_t i = 0; i < dead_.size(); ++i)
    processes_.of_rank(-1).facts.emplace_back("log.ras_missing." + std::to_string(i), dead_[i]);
}

}  // namespace plumbline::reader::imports
