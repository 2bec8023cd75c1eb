// One recording of this process, from start() to its end: files, rings, trace, and the writer thread that moves events
// from one to the other. A recording is never destroyed: threads may still look at its rings after the end, and a
// forked child leaves its parent's behind.
#pragma once

#include <pthread.h>

#include <atomic>
#include <optional>
#include <string>

#include "recorder/control_file.hpp"
#include "recorder/drain.hpp"
#include "recorder/hook_table.hpp"
#include "recorder/memory_probe.hpp"
#include "recorder/stack_source.hpp"
#include "recorder/stall_watch.hpp"
#include "recorder/wakeup.hpp"

namespace plumbline::recorder {

// What the owner of a recording gives it, and does when the level changes or recording ends by itself.
struct RecordingEvents {
  void (*level_changed)(Level level);
  void (*failed)();
  const StackSource* stacks;  // null: no stacks are taken
};

class Recording {
 public:
  static constexpr std::uint64_t kLongestClose = 10'000'000'000;

  Recording(const Settings& settings, HookTable& hooks, RecordingEvents events)
      : settings_(settings), hooks_(hooks), events_(events), stall_(settings.stall_ns) {}

  // Makes the files and starts the writer thread. A sentence when nothing can be recorded here.
  std::optional<std::string> open(const std::string& directory);

  // Gives the files their lasting name. From any thread, one at a time.
  void promote(std::int32_t group_rank) noexcept;

  // Ends the recording and waits for the writer: a promoted trace is completed, another deleted. False when the writer
  // did not come to an end in time; ring and trace then hold everything, the ring also the exit status.
  bool close(const ExitDetails& details, std::uint64_t longest_ns = kLongestClose) noexcept;

  // The process ends after its recording had: files that show no training go, others learn how it ended.
  void end_stopped(const ExitDetails& details) noexcept;

  // For the child of a fork: lets go of the parent's files and memory.
  void abandon() noexcept;

  RingMap& rings() noexcept { return rings_; }
  const std::string& directory() const noexcept { return files_.directory(); }

 private:
  static void* thread_main(void* self);
  bool start_thread();
  void run();
  std::uint64_t next_interval_ns(std::uint64_t now) noexcept;
  void tick(std::uint64_t now);  // once a second
  const RingHeader* training_ring() const;
  void watch_for_stall(std::uint64_t now);
  void take_left_stacks(std::uint64_t now);
  void sample(std::uint64_t now);
  bool flush(std::uint64_t now);
  void finish();
  void fail(std::string_view sentence);

  Settings settings_;
  HookTable& hooks_;
  RecordingEvents events_;
  Identity identity_;
  ProcessStart start_;
  RunFiles files_;
  RingMap rings_;
  std::optional<TraceWriter> trace_;
  std::optional<Drain> drain_;
  std::optional<ControlFile> control_;
  MemoryProbe memory_;
  StallWatch stall_;
  std::optional<std::uint64_t> oom_kills_;  // as last told
  RingHeader* own_ring_ = nullptr;          // for the samples
  Level level_ = Level::kWatch;
  bool announced_ = false;  // the trace says who it is under its lasting name
  bool failed_ = false;
  bool damage_told_ = false;
  std::uint64_t last_flush_ns_ = 0;
  std::uint64_t last_tick_ns_ = 0;
  double last_fill_ = 0;
  std::uint64_t last_poll_ns_ = 0;

  std::atomic<bool> promoted_{false};
  std::atomic<std::uint32_t> promoter_{0};  // id of the thread that promoted
  ExitDetails exit_;
  Wakeup stop_;
  Wakeup ended_;
};

}  // namespace plumbline::recorder
