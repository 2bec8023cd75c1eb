#include "reader/import/flight_names.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <utility>

namespace plumbline::reader::imports {
namespace {

using recorder::Dtype;
using recorder::Op;

// Names in small letters without underscores: every layer of PyTorch spells them in its own way.
constexpr std::pair<std::string_view, Op> kOps[] = {
    {"allreduce", Op::kAllReduce},
    {"allreducebarrier", Op::kBarrier},
    {"allreducesparse", Op::kAllReduceSparse},
    {"allreducecoalesced", Op::kAllReduceCoalesced},
    {"reduce", Op::kReduce},
    {"reduceoop", Op::kReduce},
    {"broadcast", Op::kBroadcast},
    {"broadcastoop", Op::kBroadcast},
    {"allgather", Op::kAllGather},
    {"allgatherv", Op::kAllGather},
    {"allgatherbase", Op::kAllGatherBase},
    {"allgatherintotensor", Op::kAllGatherBase},
    {"allgathercoalesced", Op::kAllGatherCoalesced},
    {"allgatherintotensorcoalesced", Op::kAllGatherIntoTensorCoalesced},
    {"reducescatter", Op::kReduceScatter},
    {"reducescatterv", Op::kReduceScatter},
    {"reducescatterbase", Op::kReduceScatterBase},
    {"reducescattertensor", Op::kReduceScatterBase},
    {"reducescattertensorcoalesced", Op::kReduceScatterTensorCoalesced},
    {"alltoall", Op::kAllToAll},
    {"alltoallv", Op::kAllToAllBase},
    {"alltoallbase", Op::kAllToAllBase},
    {"gather", Op::kGather},
    {"scatter", Op::kScatter},
    {"send", Op::kSend},
    {"recv", Op::kRecv},
    {"recvanysource", Op::kRecvAnySource},
    {"barrier", Op::kBarrier},
    {"monitoredbarrier", Op::kMonitoredBarrier},
    {"coalesced", Op::kGroupCall},
};

constexpr std::pair<std::string_view, Dtype> kDtypes[] = {
    {"byte", Dtype::kUint8},
    {"uint8", Dtype::kUint8},
    {"unsignedchar", Dtype::kUint8},
    {"char", Dtype::kInt8},
    {"int8", Dtype::kInt8},
    {"signedchar", Dtype::kInt8},
    {"short", Dtype::kInt16},
    {"int16", Dtype::kInt16},
    {"int", Dtype::kInt32},
    {"int32", Dtype::kInt32},
    {"long", Dtype::kInt64},
    {"int64", Dtype::kInt64},
    {"longint", Dtype::kInt64},
    {"uint16", Dtype::kUint16},
    {"uint32", Dtype::kUint32},
    {"uint64", Dtype::kUint64},
    {"half", Dtype::kFloat16},
    {"float16", Dtype::kFloat16},
    {"float", Dtype::kFloat32},
    {"float32", Dtype::kFloat32},
    {"double", Dtype::kFloat64},
    {"float64", Dtype::kFloat64},
    {"bfloat16", Dtype::kBfloat16},
    {"bool", Dtype::kBool},
    {"complexfloat", Dtype::kComplex64},
    {"complex64", Dtype::kComplex64},
    {"complexdouble", Dtype::kComplex128},
    {"complex128", Dtype::kComplex128},
    {"float8e4m3fn", Dtype::kFloat8E4m3},
    {"float8e5m2", Dtype::kFloat8E5m2},
};

std::string folded(std::string_view name) {
  std::string text;
  for (const char c : name)
    if (std::isalnum(static_cast<unsigned char>(c)) != 0)
      text.push_back(static_cast<char>(std::tolower(static_cast<unsigned char>(c))));
  return text;
}

template <class Value, std::size_t kSize>
Value named(const std::pair<std::string_view, Value> (&table)[kSize], const std::string& name) {
  const auto* const it =
      std::find_if(std::begin(table), std::end(table), [&](const auto& row) { return row.first == name; });
  return it == std::end(table) ? Value{} : it->second;
}

std::int32_t number_at(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  std::int32_t value = -1;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

}  // namespace

Op op_named(std::string_view name) { return named(kOps, folded(name)); }

Dtype dtype_named(std::string_view name) {
  if (name.starts_with("c10::")) name.remove_prefix(5);
  return named(kDtypes, folded(name));
}

FlightOperation parse_flight_operation(std::string_view name) {
  FlightOperation operation;
  if (const std::size_t colon = name.find(':'); colon != std::string_view::npos) {
    operation.backend = name.substr(0, colon);
    name.remove_prefix(colon + 1);
  }
  const std::size_t space = name.find(' ');
  operation.op = op_named(name.substr(0, space));
  if (space == std::string_view::npos) return operation;
  // "send 0->3", "recv 3<-0": the other one comes last.
  const std::string_view pair = name.substr(space + 1);
  const std::size_t arrow = std::min(pair.find("->"), pair.find("<-"));
  if (arrow != std::string_view::npos) operation.peer = number_at(pair.substr(arrow + 2));
  return operation;
}

std::vector<int> parse_ranks(std::string_view text) {
  std::vector<int> ranks;
  while (!text.empty()) {
    int rank = -1;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), rank);
    if (error == std::errc{}) {
      ranks.push_back(rank);
      text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    } else {
      text.remove_prefix(1);
    }
  }
  return ranks;
}

}  // namespace plumbline::reader::imports
