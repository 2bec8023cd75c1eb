// What PyTorch's flight recorder calls things: operations, element types, groups' ranks.
//
//   parse_flight_operation("nccl:recv 3<-0")   recv from 0, backend nccl
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "recorder/event.hpp"

namespace plumbline::reader::imports {

struct FlightOperation {
  std::string backend;  // "nccl", "gloo" …
  recorder::Op op = recorder::Op::kUnknown;
  std::int32_t peer = -1;  // of a send or receive: the other one, group-local
};

FlightOperation parse_flight_operation(std::string_view profiling_name);

// c10d's names of collectives as profilers and logs write them: "all_reduce", "allreduce", "_ALLGATHER_BASE" …
recorder::Op op_named(std::string_view name);

// "Float", "BFloat16" …; also "float" and "c10::BFloat16", as profilers write them.
recorder::Dtype dtype_named(std::string_view name);

// "[0, 1, 2]".
std::vector<int> parse_ranks(std::string_view text);

}  // namespace plumbline::reader::imports
