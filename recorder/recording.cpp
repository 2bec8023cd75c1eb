#include "recorder/recording.hpp"

#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <utility>

#include "recorder/clock.hpp"
#include "recorder/log.hpp"
#include "recorder/out_of_memory.hpp"
#include "recorder/processor_wait.hpp"

namespace plumbline::recorder {
namespace {

constexpr std::uint64_t kMillisecond = 1'000'000;
constexpr std::uint64_t kSecond = 1'000 * kMillisecond;
constexpr std::uint64_t kShortestPoll = 5 * kMillisecond;
constexpr std::uint64_t kLongestPoll = 100 * kMillisecond;
constexpr double kFlushFill = 0.25;
// A ring with a quarter of this is drained however much room it has, so that what it uses stays in the caches.
constexpr std::uint64_t kCachedSlots = 16 << 10;
constexpr int kNice = 10;
constexpr std::size_t kStackBytes = 512 << 10;

}  // namespace

std::optional<std::string> Recording::open(const std::string& directory) {
  identity_ = identify_process();
  level_ = settings_.level;
  if (auto error = files_.create(directory, identity_)) return error;
  if (auto error = rings_.create(files_.ring_fd(), settings_, identity_, files_.trace_name())) {
    files_.discard();
    files_.close();
    return error;
  }
  rings_.take_descriptor_from([](void* files) { return static_cast<RunFiles*>(files)->ring_fd(); }, &files_);
  start_ = {rings_.header().start_monotonic_ns, rings_.header().start_realtime_ns};
  trace_.emplace(files_, settings_.max_trace_bytes);
  drain_.emplace(rings_, *trace_);
  control_.emplace(directory);
  drain_->definitions().add_process(identity_, start_, files_.ring_name(), level_);
  std::optional<std::string> error = drain_->pass();
  if (!error && !start_thread()) error = "cannot start the writer thread";
  if (!error) return std::nullopt;
  files_.discard();
  files_.close();
  rings_.unmap();
  return error;
}

bool Recording::start_thread() {
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, kStackBytes);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  pthread_t thread;
  const int error = pthread_create(&thread, &attributes, thread_main, this);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  pthread_attr_destroy(&attributes);
  return error == 0;
}

void* Recording::thread_main(void* self) {
  pthread_setname_np(pthread_self(), "plumbline-write");
  setpriority(PRIO_PROCESS, static_cast<id_t>(syscall(SYS_gettid)), kNice);
  static_cast<Recording*>(self)->run();
  return nullptr;
}

void Recording::promote(std::int32_t group_rank) noexcept {
  // A process group may know a rank that the environment did not say, or did not say yet at the start.
  Identity identity = identify_process();
  if (identity.rank < 0) identity.rank = group_rank;
  identity_.rank = identity.rank;
  identity_.local_rank = identity.local_rank;
  identity_.world_size = identity.world_size;
  identity_.attempt = identity.attempt;
  if (!files_.promote(identity_)) {
    log().line("cannot rename the trace in " + files_.directory() + ": " + std::strerror(errno));
  }
  rings_.name_trace(files_.trace_name(), identity_);
  promoter_.store(static_cast<std::uint32_t>(syscall(SYS_gettid)), std::memory_order_relaxed);
  promoted_.store(true, std::memory_order_release);
}

bool Recording::close(const ExitDetails& details, std::uint64_t longest_ns) noexcept {
  exit_ = details;
  stop_.set();
  if (ended_.wait(longest_ns)) return true;
  if (promoted_.load(std::memory_order_acquire)) rings_.note_exit(details.status);
  return false;
}

void Recording::end_stopped(const ExitDetails& details) noexcept {
  if (!rings_.stopped()) return;
  if (promoted_.load(std::memory_order_acquire))
    rings_.note_exit(details.status);
  else
    files_.discard();
}

void Recording::abandon() noexcept {
  files_.close();
  rings_.unmap();
}

void Recording::run() {
  const OutOfMemoryGuard guard(
      [](void* self) {
        auto* recording = static_cast<Recording*>(self);
        recording->rings_.note_stop("no memory to write the trace");
        log().bare_line("no memory to write the trace; recording is off for the rest of this process");
        recording->events_.failed();
        recording->ended_.set();
      },
      this);
  last_flush_ns_ = last_tick_ns_ = last_poll_ns_ = monotonic_ns();
  std::uint64_t interval = kShortestPoll;
  while (!failed_ && !stop_.wait(interval)) {
    const std::uint64_t now = monotonic_ns();
    interval = next_interval_ns(now);
    if (now - last_tick_ns_ >= kSecond) tick(now);
    take_left_stacks(now);
    const bool promoted = promoted_.load(std::memory_order_acquire);
    // A pending process may yet turn out not to train: it writes only what its rings cannot hold.
    const bool due = promoted && (!announced_ || now - last_flush_ns_ >= settings_.flush_ms * kMillisecond);
    if (due || last_fill_ > kFlushFill) flush(now);
    if (const int error = rings_.allocation_failed(); error != 0 && !failed_) {
      fail("no room for another thread's ring in " + files_.directory() + ": " + std::strerror(error));
    }
  }
  if (!failed_) finish();
  ended_.set();
}

// Half the time in which the fullest ring would reach its threshold at the rate seen since the last poll.
std::uint64_t Recording::next_interval_ns(std::uint64_t now) noexcept {
  const bool promoted = promoted_.load(std::memory_order_relaxed);
  const double fill = promoted ? drain_->fullest(kCachedSlots) : drain_->fullest();
  const double gained = fill - last_fill_;
  const auto elapsed = static_cast<double>(now - last_poll_ns_);
  last_fill_ = fill;
  last_poll_ns_ = now;
  if (gained <= 0) return kLongestPoll;
  const double interval = kFlushFill / gained * elapsed / 2;
  return static_cast<std::uint64_t>(
      std::clamp(interval, static_cast<double>(kShortestPoll), static_cast<double>(kLongestPoll)));
}

void Recording::tick(std::uint64_t now) {
  last_tick_ns_ = now;
  std::string complaint;
  const std::optional<Level> level = control_->poll(complaint);
  if (!complaint.empty()) log().line(complaint);
  if (level && *level != level_) {
    level_ = *level;
    drain_->definitions().add_fact("level", std::string(level_name(level_)) + " from " + std::to_string(now));
    log().line("level is now " + std::string(level_name(level_)));
    events_.level_changed(level_);
  }
  if (promoted_.load(std::memory_order_acquire) && level_ != Level::kOff) {
    sample(now);
    watch_for_stall(now);
  }
}

// Until events have told which thread trains, the one that showed that the process does counts as it.
const RingHeader* Recording::training_ring() const {
  const TrainingThread& training = drain_->training_thread();
  for (std::uint32_t i = 0; i < rings_.count(); ++i) {
    const RingHeader& candidate = rings_.ring(i);
    const bool trains =
        training.ring() ? *training.ring() == i : candidate.tid == promoter_.load(std::memory_order_relaxed);
    if (trains && candidate.state.load(std::memory_order_acquire) == static_cast<std::uint32_t>(RingState::kActive))
      return &candidate;
  }
  return nullptr;
}

void Recording::watch_for_stall(std::uint64_t now) {
  if (events_.stacks == nullptr) return;
  const RingHeader* ring = training_ring();
  if (ring == nullptr) return;
  const std::uint64_t step_ns = drain_->training_thread().step_ns();
  const auto stalled = stall_.look(now, ring->head.load(std::memory_order_relaxed), step_ns);
  if (!stalled) return;
  events_.stacks->take_all(*stalled, ring->tid, drain_->definitions());
  flush(now);
}

void Recording::take_left_stacks(std::uint64_t now) {
  if (events_.stacks == nullptr || !events_.stacks->take_left(drain_->definitions())) return;
  flush(now);
  events_.stacks->left_written();
}

void Recording::sample(std::uint64_t now) {
  if (own_ring_ == nullptr) own_ring_ = rings_.claim(RingMap::Which::kSmall);
  if (own_ring_ == nullptr) return;
  const auto push = [&](Counter counter, std::optional<std::uint64_t> value) {
    if (!value) return;
    const SampleRecord record{{now, Kind::kSample, slots_of<SampleRecord>(), 0, static_cast<std::uint32_t>(counter)},
                              static_cast<std::int64_t>(*value),
                              0};
    if (!write_record(*own_ring_, record.header)) {
      rings_.header().dropped[static_cast<std::size_t>(Kind::kSample)].fetch_add(1, std::memory_order_relaxed);
    }
  };
  push(Counter::kResidentBytes, memory_.resident_bytes());
  push(Counter::kCgroupBytes, memory_.cgroup_bytes());
  // A count that stays the same says nothing new.
  if (const auto kills = memory_.cgroup_oom_kills(); kills != oom_kills_)
    push(Counter::kCgroupOomKills, oom_kills_ = kills);
  if (const RingHeader* training = training_ring()) push(Counter::kProcessorWaitNs, processor_wait_ns(training->tid));
}

bool Recording::flush(std::uint64_t now) {
  last_flush_ns_ = now;
  if (auto error = files_.lost()) {
    fail(*error);
    return false;
  }
  if (promoted_.load(std::memory_order_acquire) && !announced_) {
    announced_ = true;
    drain_->definitions().add_process(identity_, start_, files_.ring_name(), level_);
  }
  if (hooks_.changed(rings_)) drain_->definitions().add_hooks(now, hooks_.rows(rings_));
  if (auto error = drain_->pass()) {
    fail(*error);
    return false;
  }
  last_fill_ = 0;
  if (drain_->damaged() && !std::exchange(damage_told_, true)) {
    log().line("the job has written over a ring of events, and what it held is lost");
    drain_->definitions().add_fact("ring_damaged", "by " + std::to_string(now));
  }
  return true;
}

void Recording::finish() {
  if (!promoted_.load(std::memory_order_acquire)) {
    files_.discard();
    return;
  }
  const std::uint64_t now = monotonic_ns();
  if (const RingHeader* training = training_ring()) {
    if (const auto waited = processor_wait_ns(training->tid))
      drain_->definitions().add_fact("processor.wait_ns", std::to_string(*waited));
  }
  if (!flush(now)) return;
  drain_->definitions().add_hooks(now, hooks_.rows(rings_));
  drain_->definitions().add_end(now, exit_);
  std::optional<std::string> error = drain_->pass();
  if (!error) error = trace_->finish();
  if (error) return fail(*error);
  rings_.header().clean_end.store(1, std::memory_order_release);
  files_.remove_ring();
}

// Recording is over for good: one line, and the job runs on. What is in trace and ring stays for the reader. The line
// comes first: once recording is off, the end of the process waits for this thread no more.
void Recording::fail(std::string_view sentence) {
  failed_ = true;
  rings_.note_stop(sentence);
  log().line(std::string(sentence) + "; recording is off for the rest of this process");
  events_.failed();
}

}  // namespace plumbline::recorder
