#include "reader/import/text/nccl_log.hpp"

#include <array>
#include <charconv>

#include "reader/import/flight_names.hpp"

namespace plumbline::reader::imports {
namespace {

using recorder::Dtype;
using recorder::ReduceOp;

// ncclDataType_t and ncclRedOp_t by number.
constexpr std::array kDtypes = {Dtype::kInt8,   Dtype::kUint8,   Dtype::kInt32,   Dtype::kUint32,  Dtype::kInt64,
                                Dtype::kUint64, Dtype::kFloat16, Dtype::kFloat32, Dtype::kFloat64, Dtype::kBfloat16};
constexpr std::array kReduceOps = {ReduceOp::kSum, ReduceOp::kProd, ReduceOp::kMax, ReduceOp::kMin, ReduceOp::kAvg};

template <class Table>
auto entry_of(const Table& table, std::int64_t index, typename Table::value_type otherwise) {
  return index >= 0 && static_cast<std::size_t>(index) < table.size() ? table[static_cast<std::size_t>(index)]
                                                                      : otherwise;
}

}  // namespace

// "node7:177794:177794 [7]", perhaps behind "node7: ".
bool NcclLog::parse_origin(std::string_view head, Origin& origin) {
  while (head.ends_with(' ')) head.remove_suffix(1);
  head = head.substr(0, head.rfind(" ["));
  head = head.substr(head.rfind(' ') == std::string_view::npos ? 0 : head.rfind(' ') + 1);
  const std::size_t last = head.rfind(':');
  if (last == std::string_view::npos || last == 0) return false;
  const std::size_t first = head.rfind(':', last - 1);
  if (first == std::string_view::npos) return false;
  std::string_view pid = head.substr(first + 1);
  std::string_view tid = head.substr(last + 1);
  const auto pid_number = take_number(pid);
  const auto tid_number = take_number(tid);
  if (!pid_number || !tid_number) return false;
  origin.host = head.substr(0, first);
  origin.pid = static_cast<std::uint32_t>(*pid_number);
  origin.tid = static_cast<std::uint32_t>(*tid_number);
  return true;
}

ImportedProcess& NcclLog::process_of(const Origin& origin, int rank) {
  if (rank >= 0) rank_of_pid_.emplace(origin.pid, rank);
  const auto known = rank_of_pid_.find(origin.pid);
  ImportedProcess& process =
      known == rank_of_pid_.end() ? processes_.of_pid(origin.pid) : processes_.of(known->second, origin.pid);
  if (process.host.empty()) process.host = origin.host;
  return process;
}

bool NcclLog::line(const LogLine& line) {
  const std::size_t info = line.text.find(" NCCL INFO ");
  const std::size_t warn = line.text.find(" NCCL WARN ");
  if (info == std::string_view::npos && warn == std::string_view::npos) return false;
  const std::size_t at = std::min(info, warn);
  std::string_view head = line.text.substr(0, at);
  // A warning has its place in NCCL's sources between the process and the mark: "… [0] init.cc:497 NCCL WARN".
  if (const std::size_t close = head.find("] "); close != std::string_view::npos) head = head.substr(0, close + 1);
  Origin origin;
  if (!parse_origin(head, origin)) return false;
  const std::string_view text = line.text.substr(at + 11);
  if (warn != std::string_view::npos && warn == at) {
    ImportedProcess& process = process_of(origin, line.rank);
    if (process.facts.size() < LogProcesses::kMostRows) process.facts.emplace_back("log.nccl_warning", text);
    processes_.count("NCCL warning");
    return true;
  }
  if (text.find("ncclCommInitRank") != std::string_view::npos) {
    const auto rank = number_after(text, " rank ");
    if (rank && *rank >= 0) process_of(origin, static_cast<int>(*rank));
    return true;
  }
  return call_line(origin, text, line);
}

bool NcclLog::call_line(const Origin& origin, std::string_view text, const LogLine& line) {
  const std::size_t colon = text.find(": opCount ");
  if (colon == std::string_view::npos) return false;
  ImportedProcess& process = process_of(origin, line.rank);
  if (process.calls.size() >= LogProcesses::kMostRows) return true;
  ImportedCall call;
  call.layer = recorder::Layer::kNccl;
  call.op = op_named(text.substr(0, colon));
  const std::string_view count = text.substr(colon + 10);
  std::from_chars(count.data(), count.data() + count.size(), call.seq, 16);  // counted in hexadecimal
  call.count_in = call.count_out = static_cast<std::uint64_t>(number_after(text, " count ").value_or(0));
  call.dtype = entry_of(kDtypes, number_after(text, " datatype ").value_or(-1), Dtype::kUnknown);
  const bool reduces = call.op == recorder::Op::kAllReduce || call.op == recorder::Op::kReduce ||
                       call.op == recorder::Op::kReduceScatter;
  if (reduces) call.reduce_op = entry_of(kReduceOps, number_after(text, " op ").value_or(-1), ReduceOp::kNone);
  if (call.op == recorder::Op::kBroadcast || call.op == recorder::Op::kReduce)
    call.peer = static_cast<std::int32_t>(number_after(text, " root ").value_or(-1));
  call.enqueue_ns = line.time_ns;
  call.thread = process.thread(origin.tid, "");

  Comms& comms = comms_[origin.pid];
  const std::int64_t size = number_after(text, "[nranks=").value_or(0);
  const auto [it, is_new] = comms.number.try_emplace(std::string(between(text, " comm ", " ")), 0);
  if (is_new) it->second = comms.of_size[size]++;
  ImportedGroup group;
  group.name = "communicator " + std::to_string(it->second) + " of " + std::to_string(size) + " ranks";
  group.backend = "nccl";
  for (std::int64_t rank = 0; rank < std::min<std::int64_t>(size, 1 << 17); ++rank)
    group.ranks.push_back(static_cast<int>(rank));
  group.rank = process.rank;
  call.group = process.group(group);
  process.calls.push_back(std::move(call));
  processes_.count("NCCL call");
  return true;
}

}  // namespace plumbline::reader::imports
