// Writes synthetic traces with the recorder's own writer: for the tests and benchmarks of those who read traces.
//
//   TraceBuilder trace(directory, {.rank = 3, .world_size = 8});
//   const auto group = trace.group("default_pg", "", "gloo", "", 3, 8);
//   CollectiveRecord call{};
//   call.header = {1000, Kind::kCollective, slots_of<CollectiveRecord>(), 0, collective_tag(…)};
//   call.group = group;
//   trace.add(0, call);
//   trace.finish({.status = 0});             // without it: a trace whose process was killed
//
// add() is cheap: records wait until about `frame_records` of them make a frame, as they do in the recorder's rings.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "recorder/definitions.hpp"
#include "recorder/ring.hpp"
#include "recorder/trace_writer.hpp"

namespace plumbline::recorder {

struct TraceBuilderOptions {
  std::string host = "host0";
  std::string boot_id = "00000000-0000-0000-0000-000000000000";
  std::uint32_t pid = 1000;
  std::int32_t rank = 0;
  std::int32_t local_rank = 0;
  std::int32_t world_size = 1;
  std::int32_t attempt = 0;
  std::uint64_t start_monotonic_ns = 1'000'000'000;
  std::uint64_t start_realtime_ns = 1'700'000'000'000'000'000;
  std::uint64_t max_trace_bytes = std::uint64_t{1} << 40;
  std::size_t frame_records = 32 << 10;
};

class TraceBuilder {
 public:
  TraceBuilder(const std::string& directory, const TraceBuilderOptions& options = {});
  ~TraceBuilder();
  TraceBuilder(const TraceBuilder&) = delete;
  TraceBuilder& operator=(const TraceBuilder&) = delete;

  // The first thing that went wrong; empty while all is well.
  const std::string& error() const noexcept { return error_; }
  std::string path() const { return files_.trace_path(); }

  std::uint64_t text(std::string_view text);
  std::uint64_t group(std::string_view name, std::string_view description, std::string_view backend,
                      std::string_view ranks, std::int32_t rank, std::int32_t size, std::uint64_t pointer = 0);
  void fact(std::string_view key, std::string_view value);
  void thread(std::uint32_t ring, std::uint32_t tid, std::string_view name);
  void hooks(std::uint64_t time_ns, const std::vector<HookCountRow>& rows);
  void stack(const StackDetails& stack);  // its names: ids of text()
  void module(const ModuleDetails& module);
  void drop(Kind kind, std::uint64_t events);  // counted as lost, in the next frame's Progress

  // A record of an event; its header says how long it is.
  template <class Record>
  void add(std::uint32_t ring, const Record& record) {
    add_record(ring, record.header);
  }
  void add_record(std::uint32_t ring, const RecordHeader& record);

  // Writes what was added as one definition frame and one event frame.
  void flush();
  // Flushes, then writes Exit and the seek table. `time_ns` 0: the process ended with its last event.
  void finish(const ExitDetails& details, std::uint64_t time_ns = 0);

 private:
  void note(const std::optional<std::string>& error);
  void append_progress();

  TraceBuilderOptions options_;
  RunFiles files_;
  std::optional<TraceWriter> trace_;
  Definitions definitions_;
  Batches batches_;
  MessageBuilder builder_;
  MessageBuffer buffer_;
  // Records of each ring, a whole number of slots each.
  struct Waiting {
    std::vector<std::uint64_t> slots;
    std::uint64_t head = 0;
  };
  std::map<std::uint32_t, Waiting> rings_;
  std::size_t waiting_records_ = 0;
  std::uint64_t last_ns_ = 0;
  EventCounts dropped_{};
  std::string error_;
};

}  // namespace plumbline::recorder
