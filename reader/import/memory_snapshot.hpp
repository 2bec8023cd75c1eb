// CUDA memory snapshots of PyTorch's caching allocator, of every age: segments and blocks that were held, the trace of
// what was allocated and freed, and the request that failed, with their stacks.
//
// The trace is a ring: what it frees without having allocated was allocated before its start. Such blocks, and those
// that the snapshot holds without the trace saying since when, are given to the time before its first event.
#pragma once

#include "reader/import/imported_process.hpp"
#include "reader/import/plain_data.hpp"

namespace plumbline::reader::imports {

bool is_memory_snapshot(const PlainData& data);

ImportedProcess import_memory_snapshot(const PlainData& data, int rank);

}  // namespace plumbline::reader::imports
