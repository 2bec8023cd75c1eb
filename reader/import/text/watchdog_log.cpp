#include "reader/import/text/watchdog_log.hpp"

#include <algorithm>

#include "reader/import/flight_names.hpp"

namespace plumbline::reader::imports {
namespace {

constexpr std::string_view kDesyncGroup = "all groups of a rank together";
constexpr std::string_view kFingerprintGroup = "fingerprint check";

std::uint64_t positive(std::optional<std::int64_t> number) {
  return static_cast<std::uint64_t>(std::max<std::int64_t>(number.value_or(0), 0));
}

// "[195812480]", "[359, 1, 1435, 16]".
std::uint64_t product_of(std::string_view shape) {
  std::uint64_t product = 1;
  for (const int extent : parse_ranks(shape)) product *= static_cast<std::uint64_t>(std::max(extent, 0));
  return product;
}

int local_rank_of(const std::vector<int>& ranks, int rank) {
  const auto at = std::find(ranks.begin(), ranks.end(), rank);
  return at == ranks.end() ? -1 : static_cast<int>(at - ranks.begin());
}

}  // namespace

bool WatchdogLog::line(const LogLine& line) {
  if (timeout_line(line) || group_line(line)) {
    in_desync_ = false;
    return true;
  }
  return desync_line(line) || fingerprint_line(line);
}

// "[Rank 0] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=1580, OpType=ALLREDUCE, …".
bool WatchdogLog::timeout_line(const LogLine& line) {
  const std::string_view text = line.text;
  const std::size_t at = text.find("WorkNCCL(");
  if (text.find("collective operation timeout") == std::string_view::npos || at == std::string_view::npos) return false;
  const std::string_view work = text.substr(at);
  Timeout timeout;
  timeout.old_format = line.rank < 0;
  timeout.rank = line.rank >= 0 ? line.rank : static_cast<int>(number_after(text, "[Rank ").value_or(-1));
  timeout.time_ns = line.time_ns;
  timeout.seq = number_after(work, "SeqNum=").value_or(-1);
  timeout.op = between(work, "OpType=", ",");
  timeout.count_in = positive(number_after(work, "NumelIn="));
  timeout.count_out = positive(number_after(work, "NumelOut="));
  timeout.limit_ms = positive(number_after(work, "Timeout(ms)="));
  timeout.ran_ms = positive(number_after(work, "ran for "));
  if (timeout.rank >= 0 && timeouts_.size() < LogProcesses::kMostRows) timeouts_.push_back(std::move(timeout));
  processes_.count("timeout");
  return true;
}

// "[PG ID 0 PG GUID 0(default_pg) Rank 7] …", before 2.6 "[PG 1 Rank 0] …".
bool WatchdogLog::group_line(const LogLine& line) {
  const std::string_view text = line.text;
  const std::size_t at = text.find("[PG ");
  if (at == std::string_view::npos || line.rank < 0) return false;
  const std::string_view head = text.substr(at, text.find(']', at) - at + 1);
  const std::string_view guid = between(head, "PG GUID ", " Rank ");
  std::string name(guid.substr(0, guid.find('(')));
  if (name.empty()) name = between(head, "[PG ", " Rank ");
  const auto local = number_after(head, " Rank ");
  if (name.empty() || !local) return false;
  GroupSeen& group = groups_[name];
  if (const std::string_view description = between(guid, "(", ")"); !description.empty())
    group.description = description;
  group.global_of_local.emplace(static_cast<int>(*local), line.rank);

  if (const auto stuck = number_after(text, "watchdog got stuck for ")) {
    // Not a collective: the watchdog itself could not go on, for a call into CUDA or the interpreter lock.
    processes_.of_rank(line.rank).facts.emplace_back("log.watchdog_stuck_s", std::to_string(*stuck));
    processes_.count("stuck watchdog");
    return true;
  }
  auto enqueued = number_after(text, "last enqueued work:");
  if (!enqueued) enqueued = number_after(text, "last enqueued NCCL work:");
  auto completed = number_after(text, "last completed work:");
  if (!completed) completed = number_after(text, "last completed NCCL work:");
  if (!enqueued && !completed) return false;
  GroupStatus& status = group.statuses[line.rank];
  status.enqueued = std::max(status.enqueued, enqueued.value_or(-1));
  status.completed = std::max(status.completed, completed.value_or(-1));
  auto failed = number_after(text, "at work sequence id:");
  if (!failed) failed = number_after(text, "detected by watchdog at work:");
  for (Timeout& timeout : timeouts_)
    if (timeout.rank == line.rank && failed && timeout.seq == *failed && timeout.group.empty()) timeout.group = name;
  processes_.count("group's status");
  return true;
}

// The block behind "To our best knowledge, …"; its numbers count the calls of all groups of a rank together.
bool WatchdogLog::desync_line(const LogLine& line) {
  std::string_view text = line.text;
  while (text.starts_with('\t') || text.starts_with(' ')) text.remove_prefix(1);
  if (text.find("that caused the desync are:") != std::string_view::npos) {
    in_desync_ = true;
    processes_.count("desync report");
    return true;
  }
  if (!in_desync_) return false;
  if (text.starts_with('[')) {
    const std::string_view list = between(text, "[", "]");
    const std::string_view rest = text.substr(std::min(list.size() + 3, text.size()));
    const auto number = number_after(text, "finished collective #");
    for (const int rank : parse_ranks(list)) {
      GroupStatus& status = desync_[rank];
      if (number) {
        status.completed = status.enqueued = *number;
        processes_.of_rank(rank).facts.emplace_back("log.desync", text);
      } else if (rest.starts_with("finished")) {
        status.completed = std::max(status.completed, desync_seq_);
        status.enqueued = std::max(status.enqueued, desync_seq_);
      } else if (rest.starts_with("started")) {
        status.enqueued = std::max(status.enqueued, desync_seq_);
      }
      processes_.of_rank(rank);
    }
    return true;
  }
  if (take_word(text, "#")) {
    desync_seq_ = take_number(text).value_or(-1);
    return true;
  }
  return text.starts_with("- ");
}

// "Rank 1 is running collective: CollectiveFingerPrint(…), but Rank 0 is running collective: CollectiveFingerPrint(…)".
bool WatchdogLog::fingerprint_line(const LogLine& line) {
  constexpr std::string_view kRunning = " is running collective: CollectiveFingerPrint(";
  std::string_view rest = line.text;
  bool any = false;
  for (std::size_t at = rest.find(kRunning); at != std::string_view::npos; at = rest.find(kRunning)) {
    const std::size_t word = rest.rfind("Rank ", at);
    const auto rank = word == std::string_view::npos ? std::nullopt : number_after(rest.substr(word), "Rank ");
    rest.remove_prefix(at + kRunning.size());
    if (rank && *rank >= 0) add_fingerprint(rest, static_cast<int>(*rank), line.time_ns);
    any = true;
  }
  // The exception that the line is the text of is the tracebacks' to read.
  if (any) processes_.count("mismatch of fingerprints");
  return false;
}

void WatchdogLog::add_fingerprint(std::string_view text, int rank, std::uint64_t time_ns) {
  Fingerprint print;
  print.rank = rank;
  print.time_ns = time_ns;
  print.seq = number_after(text, "SequenceNumber=").value_or(-1);
  print.op = between(text, "OpType=", ",");
  print.elements = product_of(between(text, "TensorShape=[", "]"));
  print.dtype = between(text, "TensorDtypes=", ",");
  const bool known = std::any_of(fingerprints_.begin(), fingerprints_.end(),
                                 [&](const Fingerprint& one) { return one.rank == rank && one.seq == print.seq; });
  if (!known && fingerprints_.size() < LogProcesses::kMostRows) fingerprints_.push_back(std::move(print));
}

std::vector<int> WatchdogLog::ranks_of(const GroupSeen& group) const {
  std::vector<int> ranks;
  const bool identity = std::all_of(group.global_of_local.begin(), group.global_of_local.end(),
                                    [](const auto& pair) { return pair.first == pair.second; });
  if (identity && !group.global_of_local.empty()) {
    // Group ranks that are global ranks: a group of the first ranks, of which some may not be in the log.
    int largest = group.global_of_local.rbegin()->first;
    for (const Timeout& timeout : timeouts_)
      if (timeout.group == group.description ||
          (!timeout.group.empty() && groups_.contains(timeout.group) && &groups_.at(timeout.group) == &group))
        largest = std::max(largest, timeout.rank);
    for (int rank = 0; rank <= largest; ++rank) ranks.push_back(rank);
  } else {
    for (const auto& [local, global] : group.global_of_local) ranks.push_back(global);
  }
  return ranks;
}

void WatchdogLog::finish() {
  // A timeout of a rank whose status line is missing belongs to the group in which others had the same call.
  for (Timeout& timeout : timeouts_) {
    if (!timeout.group.empty() || timeout.old_format) continue;
    for (const Timeout& other : timeouts_)
      if (!other.group.empty() && other.seq == timeout.seq && other.op == timeout.op &&
          other.count_in == timeout.count_in)
        timeout.group = other.group;
  }
  write_groups();
  write_timeouts();
  write_fingerprints();
  write_desync();
}

void WatchdogLog::write_groups() {
  for (const auto& [name, seen] : groups_) {
    const std::vector<int> ranks = ranks_of(seen);
    for (const int rank : ranks) {
      const bool in_log = std::any_of(seen.global_of_local.begin(), seen.global_of_local.end(),
                                      [&](const auto& pair) { return pair.second == rank; }) ||
                          std::any_of(timeouts_.begin(), timeouts_.end(), [&, &name = name](const Timeout& one) {
                            return one.rank == rank && one.group == name;
                          });
      if (!in_log) continue;  // a rank that the log does not mention has no trace
      ImportedGroup group{name, seen.description, "nccl", ranks, local_rank_of(ranks, rank), {}};
      if (const auto it = seen.statuses.find(rank); it != seen.statuses.end()) group.status = it->second;
      processes_.of_rank(rank).group(group);
    }
  }
}

void WatchdogLog::write_timeouts() {
  for (const Timeout& timeout : timeouts_) {
    ImportedProcess& process = processes_.of_rank(timeout.rank);
    if (timeout.old_format) process.facts.emplace_back("log.rank_is_of_group", "true");
    ImportedCall call;
    call.end_ns = timeout.time_ns;
    const std::uint64_t ran_ns = timeout.ran_ms * 1'000'000;
    call.enqueue_ns = timeout.time_ns > ran_ns ? timeout.time_ns - ran_ns : timeout.time_ns;
    call.seq = static_cast<std::uint64_t>(std::max<std::int64_t>(timeout.seq, 0));
    call.op = op_named(timeout.op);
    call.count_in = timeout.count_in;
    call.count_out = timeout.count_out;
    call.outcome = recorder::Outcome::kFailed;
    call.thread = process.thread(0, "log");
    for (std::size_t i = 0; i < process.groups.size(); ++i)
      if (!timeout.group.empty() && process.groups[i].name == timeout.group) call.group = static_cast<int>(i);
    process.facts.emplace_back("log.timeout_ms", std::to_string(timeout.limit_ms));
    process.calls.push_back(std::move(call));
  }
}

void WatchdogLog::write_fingerprints() {
  if (fingerprints_.empty()) return;
  int largest = 0;
  for (const Fingerprint& print : fingerprints_) largest = std::max(largest, print.rank);
  std::vector<int> ranks;
  for (int rank = 0; rank <= largest; ++rank) ranks.push_back(rank);
  for (const Fingerprint& print : fingerprints_) {
    ImportedProcess& process = processes_.of_rank(print.rank);
    ImportedCall call;
    call.enqueue_ns = call.end_ns = print.time_ns;
    call.seq = static_cast<std::uint64_t>(std::max<std::int64_t>(print.seq, 0));
    call.op = op_named(print.op);
    call.dtype = dtype_named(print.dtype);
    call.count_in = call.count_out = print.elements;
    call.tensors_in = call.tensors_out = 1;
    call.outcome = recorder::Outcome::kRaised;
    call.thread = process.thread(0, "log");
    call.group = process.group({std::string(kFingerprintGroup), "the group of the call", "", ranks, print.rank, {}});
    process.calls.push_back(std::move(call));
  }
}

void WatchdogLog::write_desync() {
  if (desync_.empty()) return;
  std::vector<int> ranks;
  for (const auto& [rank, status] : desync_) ranks.push_back(rank);
  for (const auto& [rank, status] : desync_)
    processes_.of_rank(rank).group(
        {std::string(kDesyncGroup), "desync report", "nccl", ranks, local_rank_of(ranks, rank), status});
}

}  // namespace plumbline::reader::imports
