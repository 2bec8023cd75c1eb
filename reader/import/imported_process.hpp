// What importers make of foreign files: one process of the job, in words of our own, ready to be written as a trace.
//
// Every importer fills what its format knows and names in `lacks` what it cannot know. Several files about one rank (a
// flight recorder dump, its stacks, its log) end in one process. Times are nanoseconds of the wall clock, 0 not known.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "reader/group_status.hpp"
#include "recorder/event.hpp"
#include "recorder/stacks.hpp"

namespace plumbline::reader::imports {

struct ImportedFrame {
  std::string function;
  std::string file;  // of a native frame the library
  std::uint32_t line = 0;
  std::uint64_t pc = 0;
};

struct ImportedStack {
  std::uint64_t time_ns = 0;
  std::uint32_t tid = 0;
  std::string thread_name;
  recorder::StackReason reason = recorder::StackReason::kImported;
  std::uint64_t detail = 0;
  std::vector<ImportedFrame> python;  // innermost first
  std::vector<ImportedFrame> native;
  std::uint32_t flags = 0;
};

struct ImportedGroup {
  std::string name;
  std::string description;
  std::string backend;
  std::vector<int> ranks;  // global, in group order
  int rank = -1;           // of this process in the group
  std::optional<GroupStatus> status{};
};

struct ImportedCall {
  std::uint64_t enqueue_ns = 0;
  std::uint64_t start_ns = 0;
  std::uint64_t end_ns = 0;     // with an outcome other than kPending
  std::uint64_t return_ns = 0;  // the enqueuing call came back, and no more can be seen of it
  int group = -1;               // index in groups, -1 not known
  std::uint64_t seq = 0;
  recorder::Op op = recorder::Op::kUnknown;
  recorder::ReduceOp reduce_op = recorder::ReduceOp::kNone;
  recorder::Dtype dtype = recorder::Dtype::kUnknown;
  recorder::Layer layer = recorder::Layer::kC10d;
  recorder::Outcome outcome = recorder::Outcome::kPending;
  std::uint64_t count_in = 0;
  std::uint64_t count_out = 0;
  std::int32_t peer = -1;  // group-local
  std::uint16_t tensors_in = 0;
  std::uint16_t tensors_out = 0;
  bool uneven = false;  // an all-to-all whose splits differ, or may
  std::uint64_t stream = 0;
  std::uint32_t thread = 0;  // index in threads
  std::string site;          // "PATH:LINE in FUNCTION"
};

struct ImportedAllocation {
  std::uint64_t time_ns = 0;
  recorder::Kind kind = recorder::Kind::kAlloc;  // kAlloc, kFree, kAllocFailed
  recorder::Source source = recorder::Source::kCpu;
  std::int16_t device = -1;
  std::uint64_t address = 0;
  std::uint64_t size = 0;
};

struct ImportedRange {
  std::uint64_t begin_ns = 0;
  std::uint64_t end_ns = 0;
  std::string name;
  std::uint32_t thread = 0;
  bool optimizer_step = false;  // then the name is the optimizer's class
};

struct ImportedSample {
  std::uint64_t time_ns = 0;
  recorder::Counter counter = recorder::Counter::kResidentBytes;
  std::int64_t value = 0;
};

struct ImportedThread {
  std::uint32_t tid = 0;
  std::string name;
};

struct ImportedExit {
  std::uint64_t time_ns = 0;
  std::int32_t status = -1;
  std::int32_t signal = 0;
  std::string exception_class;
  std::string exception_message;
};

struct ImportedProcess {
  int rank = -1;
  int local_rank = -1;
  int world_size = -1;
  std::uint32_t pid = 0;  // 0 not known
  std::string host;       // empty: not known
  std::vector<std::pair<std::string, std::string>> facts;
  std::vector<std::string> formats;  // "flight recorder", "py-spy" …
  std::vector<std::string> lacks;    // what the formats cannot say: "starts", "allocations" …
  std::vector<ImportedThread> threads;
  std::vector<ImportedGroup> groups;
  std::vector<ImportedCall> calls;
  std::vector<ImportedAllocation> allocations;
  std::vector<ImportedRange> ranges;
  std::vector<ImportedSample> samples;
  std::vector<ImportedStack> stacks;
  std::optional<ImportedExit> exit;

  // Index of the thread, added when it is new.
  std::uint32_t thread(std::uint32_t tid, const std::string& name);
  // Index of the group of that name and these ranks, added when it is new.
  int group(const ImportedGroup& group);
  // Joins another account of the same process.
  void merge(ImportedProcess other);
};

}  // namespace plumbline::reader::imports
