// What a trace says once and refers to by id afterwards: the process, its facts, texts, groups, threads, stacks, hooks,
// and how it ended.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "reader/stacks.hpp"
#include "recorder/event.hpp"

namespace plumbline::reader {

struct ProcessInfo {
  std::uint32_t format = 0;
  std::string plumbline_version;
  std::string host;
  std::string boot_id;
  std::uint32_t pid = 0;
  std::uint64_t start_monotonic_ns = 0;
  std::uint64_t start_realtime_ns = 0;
  int rank = -1;  // as the environment said; Trace::rank() is the confirmed one
  int local_rank = -1;
  int world_size = -1;
  int attempt = 0;
  std::string ring_name;
  std::string level;
};

struct Group {
  std::uint64_t id = 0;
  std::string name;
  std::string description;
  std::string backend;
  std::uint64_t pointer = 0;
  int rank = -1;  // of this process in the group
  int size = 0;
  std::vector<int> ranks;  // global, in group order; never empty for a known group: 0 … size-1 is spelled out
  std::uint64_t time_ns = 0;

  // Global rank of a group-local one, -1 when out of range.
  int global_rank(int local) const {
    return local >= 0 && static_cast<std::size_t>(local) < ranks.size() ? ranks[static_cast<std::size_t>(local)] : -1;
  }
};

struct Thread {
  std::uint32_t ring = 0;
  std::uint64_t generation = 0;  // the same ring serves several threads one after the other
  std::uint32_t tid = 0;
  std::string name;
};

struct HookCount {
  std::string name;
  bool active = false;
  std::uint64_t fired = 0;  // of a process without an end: as the ring counted on to its death
  std::string detail;
  std::uint32_t number = 0;  // in the ring's counters; beyond them when the trace does not say
};

struct ExitInfo {
  std::uint64_t time_ns = 0;
  int status = -1;
  int signal = 0;
  std::string exception_class;
  std::string exception_message;
};

// Recording that ended by itself while the process ran on.
struct RecordingStop {
  std::uint64_t time_ns = 0;
  std::string reason;         // a clause: "cannot write to …: No space left on device"
  std::uint64_t exit_ns = 0;  // when the process came to its end, 0 when nobody saw that
  int exit_status = -1;
};

// Frames that the size cap threw out.
struct EvictedRange {
  std::uint64_t first_ns = 0;
  std::uint64_t last_ns = 0;
  std::uint64_t frames = 0;
  std::uint64_t compressed_bytes = 0;
  std::vector<std::uint64_t> events;  // by recorder::Kind
};

// A hooked call that the process was inside of when it died.
struct InFlightCall {
  std::uint32_t ring = 0;
  std::uint32_t tid = 0;
  recorder::Kind what = recorder::Kind::kNone;  // kAllocFailed, kCollective, kWait
  std::uint32_t tag = 0;
  std::uint64_t time_ns = 0;
  std::uint64_t id_or_size = 0;
};

// A stretch of the file that could not be used.
struct Damage {
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
  std::string what;      // one sentence
  bool cut_off = false;  // the file ends in the middle of a frame: a killed writer, or one still at work
};

struct Definitions {
  ProcessInfo process;
  bool has_process = false;
  std::vector<std::pair<std::string, std::string>> facts;  // the last value of a key wins; order of first sight
  std::unordered_map<std::uint64_t, std::string> texts;
  std::vector<Group> groups;
  std::vector<Thread> threads;
  std::vector<HookCount> hooks;  // the latest count of each
  std::vector<Stack> stacks;     // in the order in which they were taken
  std::vector<Module> modules;   // of all times at which stacks were taken
  std::optional<ExitInfo> exit;

  std::string_view text(std::uint64_t id) const;  // "?" when the trace does not define it
  std::string_view fact(std::string_view key) const;
  const Group* group(std::uint64_t id) const;
  const Group* world_group() const;  // the group of all ranks, null when none was made
  // The owner of a ring in one generation; 0: its last owner. Null when not known.
  const Thread* thread(std::uint32_t ring, std::uint64_t generation = 0) const;

  void add_fact(std::string_view key, std::string_view value);
  void add_text(std::uint64_t id, std::string_view text);
  // A group that is defined again replaces itself. One without ranks has all from 0 to size-1.
  void add_group(Group group);
  void add_thread(Thread thread);
  void add_stack(Stack stack);
  void add_module(Module module);

  // Definitions are the one thing that is kept in memory. Of a file that defines more than any job does, the rest is
  // refused, and counted here.
  static constexpr std::size_t kMaxBytes = std::size_t{64} << 20;
  std::uint64_t refused() const { return refused_; }

 private:
  bool afford(std::size_t bytes);

  std::size_t bytes_ = 0;
  std::uint64_t refused_ = 0;
  std::unordered_map<std::string, std::size_t> fact_index_;
  std::unordered_map<std::uint64_t, std::size_t> group_index_;
  std::unordered_map<std::uint64_t, std::size_t> thread_index_;  // by a mix of ring and generation
};

}  // namespace plumbline::reader
