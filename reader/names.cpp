#include "reader/names.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

#include "recorder/operations.hpp"

namespace plumbline::reader {
namespace {

using recorder::CommEvent;
using recorder::Counter;
using recorder::Dtype;
using recorder::Kind;
using recorder::Layer;
using recorder::Op;
using recorder::Outcome;
using recorder::ReduceOp;
using recorder::Source;

// The tables follow the enumerations' order; a number from a newer trace falls off their end.
constexpr std::string_view kUnknown = "unknown";

constexpr std::array<std::string_view, 22> kKinds = {"none",
                                                     "skip",
                                                     "alloc",
                                                     "free",
                                                     "alloc_failed",
                                                     "collective",
                                                     "collective_start",
                                                     "collective_end",
                                                     "collective_return",
                                                     "wait",
                                                     "wait_end",
                                                     "range_begin",
                                                     "range_end",
                                                     "step_begin",
                                                     "step_end",
                                                     "step_group",
                                                     "group",
                                                     "text",
                                                     "fact",
                                                     "sample",
                                                     "comm",
                                                     "device_work"};
constexpr std::array<std::string_view, 8> kSources = {
    "cpu",          "cuda_malloc",   "cuda_malloc_async", "cuda_host",
    "cuda_managed", "caching_block", "caching_segment",   "nccl_internal"};
static_assert(recorder::kOpNames.size() == static_cast<std::size_t>(Op::kCount_));
constexpr std::array<std::string_view, 9> kReduceOps = {"sum",  "avg", "prod", "min",       "max",
                                                        "band", "bor", "bxor", "premul_sum"};
constexpr std::array<std::string_view, 18> kDtypes = {
    "unknown", "uint8",   "int8",     "int16", "int32",     "int64",      "uint32",        "uint64",      "float16",
    "float32", "float64", "bfloat16", "bool",  "complex64", "complex128", "float8_e4m3fn", "float8_e5m2", "uint16"};
constexpr std::array<std::string_view, 2> kLayers = {"c10d", "nccl"};
constexpr std::array<std::string_view, 5> kOutcomes = {"pending", "completed", "failed", "raised", "captured"};
constexpr std::array<std::string_view, 9> kCounters = {"resident_bytes",    "cgroup_bytes",     "gpu_used_bytes",
                                                       "graph_launches",    "cgroup_oom_kills", "garbage_collection_ns",
                                                       "processor_wait_ns", "batch_rows",       "batch_length"};
constexpr std::array<std::string_view, 3> kDeviceWorkNames = {"kernel", "copy", "memset"};
constexpr std::array<std::string_view, 7> kCommEvents = {"init",  "split",  "finalize", "destroy",
                                                         "abort", "revoke", "shrink"};

template <std::size_t N, class Enum>
constexpr std::string_view named(const std::array<std::string_view, N>& names, Enum value) {
  const auto index = static_cast<std::size_t>(value);
  return index < N ? names[index] : kUnknown;
}

static_assert(named(kKinds, Kind::kDeviceWork) == "device_work");
static_assert(named(kKinds, Kind::kStepGroup) == "step_group");
static_assert(named(recorder::kOpNames, Op::kGroupCall) == "group_call");
static_assert(named(recorder::kOpNames, Op::kBarrier) == "barrier");
static_assert(named(kDtypes, Dtype::kUint16) == "uint16");
static_assert(named(kReduceOps, ReduceOp::kPremulSum) == "premul_sum");
static_assert(named(kSources, Source::kNcclInternal) == "nccl_internal");
static_assert(named(kCommEvents, CommEvent::kShrink) == "shrink");

}  // namespace

std::string_view name_of(Kind kind) { return named(kKinds, kind); }
std::string_view name_of(Source source) { return named(kSources, source); }
std::string_view name_of(Op op) { return named(recorder::kOpNames, op); }
std::string_view name_of(ReduceOp reduce) {
  return reduce == ReduceOp::kNone ? std::string_view{} : named(kReduceOps, reduce);
}
std::string_view name_of(Dtype dtype) { return named(kDtypes, dtype); }
std::string_view name_of(Layer layer) { return named(kLayers, layer); }
std::string_view name_of(Outcome outcome) { return named(kOutcomes, outcome); }
std::string_view name_of(Counter counter) { return named(kCounters, counter); }
std::string_view name_of(CommEvent event) { return named(kCommEvents, event); }
std::string_view name_of(recorder::DeviceWork work) { return named(kDeviceWorkNames, work); }

std::optional<Kind> kind_named(std::string_view name) {
  for (std::size_t index = 0; index < kKinds.size(); ++index) {
    if (kKinds[index] == name) return static_cast<Kind>(index);
  }
  return std::nullopt;
}

}  // namespace plumbline::reader
