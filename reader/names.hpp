// The names of the numbers in a trace, as output, checks and exporters write them. They are stable: scripts read them.
#pragma once

#include <optional>
#include <string_view>

#include "recorder/dtype_size.hpp"
#include "recorder/event.hpp"

namespace plumbline::reader {

std::string_view name_of(recorder::Kind kind);        // "alloc", "collective_start" …
std::string_view name_of(recorder::Source source);    // "cpu", "cuda_malloc" …
std::string_view name_of(recorder::Op op);            // "all_reduce" …, without c10d's trailing marks
std::string_view name_of(recorder::ReduceOp reduce);  // "sum" …; empty for none
std::string_view name_of(recorder::Dtype dtype);      // PyTorch's: "float32" …
std::string_view name_of(recorder::Layer layer);      // "c10d", "nccl"
std::string_view name_of(recorder::Outcome outcome);  // "pending" …
std::string_view name_of(recorder::Counter counter);  // "resident_bytes" …
std::string_view name_of(recorder::CommEvent event);  // "init" …
std::string_view name_of(recorder::DeviceWork work);  // "kernel" …

using recorder::size_of;

// Kind of a name, for filters.
std::optional<recorder::Kind> kind_named(std::string_view name);

}  // namespace plumbline::reader
