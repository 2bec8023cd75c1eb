// The life of the process's recorder: idle → pending → recording → stopped.
#include "recorder/recorder.hpp"

#include <pthread.h>

#include "recorder/captures.hpp"
#include "recorder/clock.hpp"
#include "recorder/log.hpp"
#include "recorder/mutex_lock.hpp"
#include "recorder/process_names.hpp"
#include "recorder/process_state.hpp"

namespace plumbline::recorder {

constinit thread_local ThreadState t_state{nullptr, 0};
constinit std::atomic<std::uint32_t> g_epoch{kNoEpoch};
constinit std::atomic<Recording*> g_recording{nullptr};

namespace {

enum class State : std::uint32_t { kIdle, kPending, kRecording, kStopped, kRefused };

constinit std::atomic<State> g_state{State::kIdle};
constinit std::atomic<Level> g_level{Level::kOff};
// What promote() had to do is done.
constinit std::atomic<bool> g_promoted{false};
constinit std::atomic<std::uint64_t> g_next_id{1};
// Of the recording in force, or of the next one; g_epoch is this or kNoEpoch. A fork's child counts on, so that what
// its thread remembers of the parent's rings is void.
constinit std::atomic<std::uint32_t> g_recording_epoch{1};

// Guards what follows; fork() takes it.
pthread_mutex_t g_control = PTHREAD_MUTEX_INITIALIZER;
const StackSource* g_stacks = nullptr;
std::string* g_directory = nullptr;  // of this process, or of the one that it was forked from
pthread_key_t g_thread_end;
bool g_has_key = false;

// Made on first use and never destroyed: threads may outlive static destruction.
HookTable& hook_table() {
  static auto* table = new HookTable;
  return *table;
}

ExitDetails& exit_details() {
  static auto* details = new ExitDetails;
  return *details;
}

void on_level(Level level) {
  g_level.store(level, std::memory_order_relaxed);
  g_epoch.store(level == Level::kOff ? kNoEpoch : g_recording_epoch.load(), std::memory_order_release);
}

void on_failure() {
  g_state.store(State::kStopped, std::memory_order_release);
  g_epoch.store(kNoEpoch, std::memory_order_release);
}

// The thread may record again after this, in a destructor that runs later: it then claims a ring anew.
void on_thread_end(void*) {
  if (t_state.epoch == g_recording_epoch.load(std::memory_order_acquire)) RingMap::release(*t_state.ring);
  t_state = {nullptr, 0};
}

bool started(State state) { return state == State::kPending || state == State::kRecording; }

std::optional<std::string> open_recording(const Settings& settings) {
  if (!g_has_key) g_has_key = pthread_key_create(&g_thread_end, on_thread_end) == 0;
  if (!g_has_key) return "the process has no thread-specific key left";
  auto* recording = new Recording(settings, hook_table(), {on_level, on_failure, g_stacks});
  if (auto error = recording->open(*g_directory)) return error;
  g_recording.store(recording, std::memory_order_release);
  return std::nullopt;
}

}  // namespace

[[gnu::noinline]] RingHeader* claim_ring(std::uint32_t epoch) noexcept {
  RingHeader* ring = g_recording.load(std::memory_order_acquire)->rings().claim(RingMap::Which::kAny);
  if (ring == nullptr) return nullptr;
  t_state = {ring, epoch};
  pthread_setspecific(g_thread_end, ring);
  return ring;
}

std::uint64_t now_ns() noexcept { return monotonic_ns(); }

bool active() noexcept { return g_epoch.load(std::memory_order_relaxed) != kNoEpoch; }

Level level() noexcept { return active() ? g_level.load(std::memory_order_relaxed) : Level::kOff; }

std::uint64_t next_id() noexcept { return g_next_id.fetch_add(1, std::memory_order_relaxed); }

bool start(const Settings& settings) noexcept {
  if (const State state = g_state.load(std::memory_order_acquire); state != State::kIdle) return started(state);
  const MutexLock lock(g_control);
  if (const State state = g_state.load(std::memory_order_acquire); state != State::kIdle) return started(state);
  if (settings.disabled) {
    g_state.store(State::kRefused, std::memory_order_release);
    return false;
  }
  if (g_directory == nullptr || !settings.run_directory.empty()) {
    delete g_directory;
    g_directory = new std::string(run_directory(settings));
  }
  log().use_directory(*g_directory);
  for (const std::string& complaint : settings.complaints) log().line(complaint);
  forget_named_things();
  if (const auto error = open_recording(settings)) {
    log().use_directory("");
    log().line(*error + "; nothing is recorded of this process");
    g_state.store(State::kRefused, std::memory_order_release);
    return false;
  }
  enable_captures(*g_directory, settings.level, settings.max_capture_bytes);
  g_state.store(State::kPending, std::memory_order_release);
  on_level(settings.level);
  return true;
}

void promote(std::string_view why) noexcept {
  if (g_promoted.load(std::memory_order_acquire)) [[likely]]
    return;
  {
    const MutexLock lock(g_control);
    State state = g_state.load(std::memory_order_acquire);
    if (state == State::kIdle || g_promoted.load(std::memory_order_relaxed)) return;
    Recording* const recording = g_recording.load(std::memory_order_acquire);
    // Recording may have ended before, because the disk was full, say: the trace has its start even so.
    const bool has_files = recording != nullptr && (state == State::kPending || recording->rings().stopped());
    if (state == State::kStopped && !has_files) return;
    // What was held back of a process that trains belongs into the log, also why nothing can be recorded of it.
    log().release();
    if (has_files) recording->promote(rank_from_groups());
    if (state == State::kPending) g_state.compare_exchange_strong(state, State::kRecording, std::memory_order_acq_rel);
    g_promoted.store(true, std::memory_order_release);
  }
  fact("promoted", why);
}

bool promoted() noexcept { return g_promoted.load(std::memory_order_acquire); }

void set_stack_source(const StackSource& source) noexcept { g_stacks = &source; }

void hook_state(unsigned hook, std::string_view name, bool active, std::string_view detail) noexcept {
  const MutexLock lock(g_control);
  hook_table().set(hook, name, active, detail);
}

void set_exception(std::string_view type, std::string_view message) noexcept {
  const MutexLock lock(g_control);
  exit_details().exception_class = type;
  exit_details().exception_message = message;
}

void stop(int status, int signal) noexcept {
  finish_captures();
  const MutexLock lock(g_control);
  ExitDetails details = exit_details();
  details.status = status;
  details.signal = signal;
  Recording* const recording = g_recording.load(std::memory_order_acquire);
  if (!started(g_state.load(std::memory_order_acquire))) {
    if (recording != nullptr) recording->end_stopped(details);
    return;
  }
  if (t_state.epoch == g_epoch.load(std::memory_order_acquire)) {
    settle_stale(*t_state.ring, ~std::uint64_t{0}, now_ns());
  }
  g_epoch.store(kNoEpoch, std::memory_order_release);
  if (!recording->close(details)) {
    log().line("the writer did not come to an end in time; what it had not written is in the ring");
  }
  recording->end_stopped(details);  // when the disk did not take the end
  // Once more: the writer may have followed the control file in the meantime.
  g_epoch.store(kNoEpoch, std::memory_order_release);
  g_state.store(State::kStopped, std::memory_order_release);
}

void fork_prepare() noexcept { pthread_mutex_lock(&g_control); }

void fork_parent() noexcept { pthread_mutex_unlock(&g_control); }

// Nothing of the parent's recording is used but its descriptors and its mapping, which the writer thread never changes
// in two steps: so fork() need not wait for the writer.
void fork_child() noexcept {
  pthread_mutex_init(&g_control, nullptr);
  g_epoch.store(kNoEpoch, std::memory_order_release);
  g_recording_epoch.fetch_add(1);
  if (Recording* parents = g_recording.exchange(nullptr)) parents->abandon();
  g_promoted.store(false, std::memory_order_release);
  forget_captures();
  renew_log_after_fork();
  g_state.store(State::kIdle, std::memory_order_release);
}

}  // namespace plumbline::recorder
