// Short ways to make records, and a directory to write traces into, for the reader's tests.
#pragma once

#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "reader/run.hpp"
#include "recorder/event.hpp"
#include "recorder/trace_builder.hpp"

namespace plumbline::reader::testing {

using recorder::TraceBuilder;
using recorder::TraceBuilderOptions;

// Removed with all that is in it.
class TempDir {
 public:
  TempDir();
  ~TempDir();
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;
  const std::string& path() const { return path_; }
  std::string operator/(std::string_view name) const { return path_ + "/" + std::string(name); }

 private:
  std::string path_;
};

std::vector<std::uint8_t> read_file(const std::string& path);
void write_file(const std::string& path, std::span<const std::uint8_t> bytes);
void write_file(const std::string& path, std::string_view text);

// Opens a trace file alone; the test fails when it cannot be opened.
Trace open_trace(const std::string& path, const std::string& ring = {});
Run open_run(const std::string& path);

recorder::AllocRecord alloc(std::uint64_t time_ns, std::uint64_t address, std::uint64_t size,
                            Source source = Source::kCpu, int device = -1);
recorder::AllocRecord release(std::uint64_t time_ns, std::uint64_t address, Source source = Source::kCpu,
                              int device = -1);
recorder::AllocRecord failed_alloc(std::uint64_t time_ns, std::uint64_t size, Source source = Source::kCpu);

struct Call {
  std::uint64_t time_ns = 0;
  std::uint64_t id = 0;
  std::uint64_t group = 0;
  std::uint64_t seq = 0;
  Op op = Op::kAllReduce;
  Layer layer = Layer::kC10d;
  std::int32_t peer = -1;
  std::int32_t tensor_tag = 0;
};
recorder::CollectiveRecord collective(const Call& call);
recorder::CollectiveMarkRecord mark(std::uint64_t time_ns, Kind kind, std::uint64_t id,
                                    Outcome outcome = Outcome::kPending, std::int64_t code = 0);
inline recorder::CollectiveMarkRecord end_of(std::uint64_t time_ns, std::uint64_t id,
                                             Outcome outcome = Outcome::kCompleted) {
  return mark(time_ns, Kind::kCollectiveEnd, id, outcome);
}

recorder::RangeRecord range_begin(std::uint64_t time_ns, std::uint64_t handle, std::uint64_t name,
                                  std::uint8_t depth = 0);
recorder::RangeRecord range_end(std::uint64_t time_ns, std::uint64_t handle, std::uint64_t name,
                                std::uint8_t depth = 0);
recorder::StepRecord step_begin(std::uint64_t time_ns, std::uint64_t handle, std::uint64_t name,
                                std::uint8_t depth = 0);
recorder::StepRecord step_end(std::uint64_t time_ns, std::uint64_t handle, std::uint64_t name, std::uint64_t key,
                              std::uint8_t depth = 0, bool raised = false);
recorder::StepGroupRecord step_group(std::uint64_t time_ns, std::uint64_t handle, std::uint64_t key,
                                     std::uint32_t index, std::uint32_t groups, double lr);
recorder::SampleRecord sample(std::uint64_t time_ns, Counter counter, std::int64_t value);

// A whole trace of one small training process: two steps with a collective, allocations, a range and a sample each.
// Gives its path.
std::string write_small_trace(const std::string& directory, const TraceBuilderOptions& options = {},
                              bool finish = true);

// All rows of a trace, "kind@time" each, in the order that read() and the merge give them.
std::vector<std::string> rows_of(const Trace& trace, const Query& query = {});

}  // namespace plumbline::reader::testing
