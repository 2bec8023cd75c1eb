#include "recorder/recorder.hpp"

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <mutex>
#include <new>

#include "recorder/clock.hpp"
#include "recorder/log.hpp"
#include "recorder/recording.hpp"
#include "recorder/seen_set.hpp"
#include "recorder/text_hash.hpp"

namespace plumbline::recorder {
namespace {

enum class State : std::uint32_t { kIdle, kPending, kRecording, kStopped, kRefused };

// Threads compare their own epoch with the process's: equal means that the thread's ring belongs to the recording in
// force. kNoEpoch is equal to no thread's, so one comparison also says whether anything is recorded at all.
constexpr std::uint32_t kNoEpoch = ~std::uint32_t{0};

struct ThreadState {
  RingHeader* ring;
  std::uint32_t epoch;
};
[[gnu::tls_model("initial-exec")]] constinit thread_local ThreadState t_state{nullptr, 0};

constinit std::atomic<std::uint32_t> g_epoch{kNoEpoch};
constinit std::atomic<State> g_state{State::kIdle};
constinit std::atomic<Level> g_level{Level::kOff};
constinit std::atomic<std::uint64_t> g_next_id{1};
constinit std::atomic<std::int32_t> g_group_rank{-1};
constinit SeenSet<1 << 15> g_seen;

// Everything below is guarded by g_control, which fork() takes.
pthread_mutex_t g_control = PTHREAD_MUTEX_INITIALIZER;
std::uint32_t g_last_epoch = 0;
Recording* g_recording = nullptr;
HookTable* g_hooks = nullptr;
ExitDetails* g_exit = nullptr;
std::string* g_directory = nullptr;  // of this process, or of the one that it was forked from
pthread_key_t g_thread_end;
bool g_has_key = false;

class ControlLock {
 public:
  ControlLock() { pthread_mutex_lock(&g_control); }
  ~ControlLock() { pthread_mutex_unlock(&g_control); }
  ControlLock(const ControlLock&) = delete;
  ControlLock& operator=(const ControlLock&) = delete;
};

// Objects with a destructor are made on first use and never destroyed: threads may outlive static destruction.
HookTable& hook_table() {
  if (g_hooks == nullptr) g_hooks = new HookTable;
  return *g_hooks;
}

ExitDetails& exit_details() {
  if (g_exit == nullptr) g_exit = new ExitDetails;
  return *g_exit;
}

void on_level(Level level) {
  g_level.store(level, std::memory_order_relaxed);
  g_epoch.store(level == Level::kOff ? kNoEpoch : g_last_epoch, std::memory_order_release);
}

void on_failure() {
  g_state.store(State::kStopped, std::memory_order_release);
  g_epoch.store(kNoEpoch, std::memory_order_release);
}

void on_thread_end(void*) {
  if (t_state.ring != nullptr && t_state.epoch == g_epoch.load(std::memory_order_acquire))
    RingMap::release(*t_state.ring);
  t_state = {nullptr, 0};
}

// The calling thread's ring; null when nothing is recorded, or when there is none left.
RingHeader* own_ring() noexcept {
  const std::uint32_t epoch = g_epoch.load(std::memory_order_acquire);
  if (t_state.epoch == epoch) [[likely]]
    return t_state.ring;
  if (epoch == kNoEpoch) return nullptr;
  RingHeader* ring = g_recording->rings().claim(RingMap::Which::kAny);
  if (ring == nullptr) return nullptr;
  t_state = {ring, epoch};
  pthread_setspecific(g_thread_end, ring);
  return ring;
}

void count_drop(RingHeader* ring, const RecordHeader& record) noexcept {
  if (g_epoch.load(std::memory_order_acquire) == kNoEpoch) return;
  g_recording->rings().header().dropped[static_cast<std::size_t>(record.kind) % kKindCount].fetch_add(
      1, std::memory_order_relaxed);
  if (ring != nullptr) ring->dropped_slots.fetch_add(record.slots, std::memory_order_relaxed);
}

bool push_unmarked(const RecordHeader& record) noexcept {
  RingHeader* ring = own_ring();
  if (ring != nullptr && write_record(*ring, record)) [[likely]]
    return true;
  count_drop(ring, record);
  return false;
}

// The event that tells of a call that has raised.
void push_raised(Kind what, std::uint32_t tag, std::uint64_t marked_ns, std::uint64_t id_or_size,
                 std::uint64_t now) noexcept {
  if (what == Kind::kAllocFailed) {
    const AllocRecord record{{marked_ns, Kind::kAllocFailed, slots_of<AllocRecord>(), 0, tag}, 0, id_or_size};
    push_unmarked(record.header);
    return;
  }
  const Kind end = what == Kind::kWait ? Kind::kWaitEnd : Kind::kCollectiveEnd;
  const CollectiveMarkRecord record{
      {now, end, slots_of<CollectiveMarkRecord>(), 0, static_cast<std::uint32_t>(Outcome::kRaised)}, id_or_size, 0};
  push_unmarked(record.header);
}

void unset(RingHeader& ring, InFlight& mark) noexcept {
  mark.what.store(0, std::memory_order_release);
  ring.marks.fetch_sub(1, std::memory_order_relaxed);
}

void settle(RingHeader& ring, InFlight& mark, std::uint64_t now) noexcept {
  const auto what = static_cast<Kind>(mark.what.load(std::memory_order_relaxed));
  unset(ring, mark);
  push_raised(what, mark.tag, mark.time_ns, mark.id_or_size, now);
}

// Ends the marks that an event from `frame` proves to be stale.
[[gnu::noinline]] void settle_stale(RingHeader& ring, std::uint64_t frame, std::uint64_t now) noexcept {
  if (ring.in_flight.what.load(std::memory_order_relaxed) != 0) settle(ring, ring.in_flight, now);
  for (InFlight& mark : ring.calls) {
    if (mark.what.load(std::memory_order_relaxed) != 0 && mark.frame <= frame) settle(ring, mark, now);
  }
}

template <class Record>
struct WithText {
  Record record;
  char text[kMaxFact];
};

// Fills the text behind a record in place and pushes both.
template <class Record>
bool push_text(WithText<Record>& message, std::size_t length) noexcept {
  message.record.header.slots = slots_of<Record>(length);
  message.record.header.tag = static_cast<std::uint32_t>(length);
  return push(message.record.header);
}

// The global rank of a group's nth member; an empty list means that they are numbered alike.
std::int32_t nth_rank(std::string_view ranks, std::int32_t n) noexcept {
  if (ranks.empty()) return n;
  for (; n > 0; --n) {
    const std::size_t comma = ranks.find(',');
    if (comma == std::string_view::npos) return -1;
    ranks.remove_prefix(comma + 1);
  }
  std::int32_t rank = -1;
  std::from_chars(ranks.data(), ranks.data() + ranks.size(), rank);
  return rank;
}

}  // namespace

std::uint64_t now_ns() noexcept { return monotonic_ns(); }

bool active() noexcept { return g_epoch.load(std::memory_order_relaxed) != kNoEpoch; }

Level level() noexcept { return active() ? g_level.load(std::memory_order_relaxed) : Level::kOff; }

bool start(const Settings& settings) noexcept {
  const State state = g_state.load(std::memory_order_acquire);
  if (state != State::kIdle) return state == State::kPending || state == State::kRecording;
  const ControlLock lock;
  if (g_state.load(std::memory_order_acquire) != State::kIdle) return start(settings);
  if (settings.disabled) return g_state.store(State::kRefused), false;
  if (!g_has_key) g_has_key = pthread_key_create(&g_thread_end, on_thread_end) == 0;
  if (g_directory == nullptr || !settings.run_directory.empty()) g_directory = new std::string(run_directory(settings));
  log().use_directory(*g_directory);
  for (const std::string& complaint : settings.complaints) log().line(complaint);

  auto* recording = new Recording(settings, hook_table(), {on_level, on_failure});
  std::optional<std::string> error = g_has_key ? recording->open(*g_directory) : "no thread key is left";
  if (error) {
    log().use_directory("");
    log().line(*error + "; nothing is recorded of this process");
    g_state.store(State::kRefused, std::memory_order_release);
    return false;
  }
  g_recording = recording;
  g_seen.clear();
  ++g_last_epoch;
  g_state.store(State::kPending, std::memory_order_release);
  on_level(settings.level);
  return true;
}

void promote(std::string_view why) noexcept {
  if (g_state.load(std::memory_order_acquire) == State::kRecording) [[likely]]
    return;
  {
    const ControlLock lock;
    const State state = g_state.load(std::memory_order_acquire);
    // Held lines of a process that trains are worth a place in the log, also that of why nothing could be recorded.
    if (state == State::kPending || state == State::kRefused) log().release();
    if (state != State::kPending) return;
    g_recording->promote(g_group_rank.load(std::memory_order_relaxed));
    g_state.store(State::kRecording, std::memory_order_release);
  }
  fact("promoted", why);
}

bool promoted() noexcept { return g_state.load(std::memory_order_acquire) == State::kRecording; }

bool push(const RecordHeader& record) noexcept {
  RingHeader* ring = own_ring();
  if (ring == nullptr) [[unlikely]]
    return count_drop(nullptr, record), false;
  if (ring->marks.load(std::memory_order_relaxed) != 0) [[unlikely]] {
    settle_stale(*ring, reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)), record.time_ns);
  }
  if (write_record(*ring, record)) [[likely]]
    return true;
  count_drop(ring, record);
  return false;
}

void set_in_flight(Kind what, std::uint32_t tag, std::uint64_t time_ns, std::uint64_t id_or_size,
                   const void* frame) noexcept {
  RingHeader* ring = own_ring();
  if (ring == nullptr) return;
  const auto address = reinterpret_cast<std::uintptr_t>(frame);
  if (ring->marks.load(std::memory_order_relaxed) != 0) settle_stale(*ring, address, time_ns);
  InFlight* mark = &ring->in_flight;
  if (what != Kind::kAllocFailed) {
    mark = std::find_if(std::begin(ring->calls), std::end(ring->calls),
                        [](const InFlight& call) { return call.what.load(std::memory_order_relaxed) == 0; });
    if (mark == std::end(ring->calls)) return;
  }
  mark->tag = tag;
  mark->time_ns = time_ns;
  mark->id_or_size = id_or_size;
  mark->frame = address;
  mark->what.store(static_cast<std::uint32_t>(what), std::memory_order_release);
  ring->marks.store(ring->marks.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
}

void clear_in_flight(const void* frame) noexcept {
  if (t_state.epoch != g_epoch.load(std::memory_order_acquire)) return;
  RingHeader& ring = *t_state.ring;
  if (ring.marks.load(std::memory_order_relaxed) == 0) return;
  const auto address = reinterpret_cast<std::uintptr_t>(frame);
  // A mark of an inner frame that is still set belongs to a call that raised into this one.
  const auto end = [&](InFlight& mark) {
    if (mark.what.load(std::memory_order_relaxed) == 0 || mark.frame > address) return;
    if (mark.frame == address) {
      unset(ring, mark);
    } else {
      settle(ring, mark, monotonic_ns());
    }
  };
  end(ring.in_flight);
  for (InFlight& mark : ring.calls) end(mark);
}

std::uint64_t text_id(std::string_view text) noexcept {
  const std::uint64_t id = text_hash(text);
  if (g_seen.contains(id) || !active()) return id;
  WithText<TextRecord> message;
  message.record = {{now_ns(), Kind::kText, 0, 0, 0}, id, 0};
  const std::size_t length = std::min(text.size(), kMaxText);
  std::memcpy(message.text, text.data(), length);
  // Only what has reached a ring is known: a dropped text is tried again, and an id that another thread reads from the
  // set stands for a text that a ring already holds.
  if (push_text(message, length)) g_seen.insert(id);
  return id;
}

void fact(std::string_view key, std::string_view value) noexcept {
  if (!active()) return;
  WithText<FactRecord> message;
  message.record = {{now_ns(), Kind::kFact, 0, 0, 0}, {}};
  const std::size_t key_length = std::min(key.size(), kMaxText);
  const std::size_t value_length = std::min(value.size(), kMaxFact - key_length - 1);
  std::memcpy(message.text, key.data(), key_length);
  message.text[key_length] = '=';
  std::memcpy(message.text + key_length + 1, value.data(), value_length);
  push_text(message, key_length + 1 + value_length);
}

std::uint64_t next_id() noexcept { return g_next_id.fetch_add(1, std::memory_order_relaxed); }

std::uint64_t define_group(std::string_view name, std::string_view description, std::string_view backend,
                           std::string_view ranks, std::int32_t rank, std::int32_t size,
                           std::uint64_t pointer) noexcept {
  const std::uint64_t id = group_hash(name, ranks);
  if (g_seen.contains(id) || !active()) return id;
  std::int32_t unknown = -1;
  g_group_rank.compare_exchange_strong(unknown, nth_rank(ranks, rank), std::memory_order_relaxed);

  WithText<GroupRecord> message;
  std::size_t length = 0;
  const auto append = [&](std::string_view part, std::size_t limit) {
    const std::size_t take = std::min(part.size(), limit - length);
    std::memcpy(message.text + length, part.data(), take);
    length += take;
  };
  for (const std::string_view part : {name, description, backend}) {
    append(part, std::min(length + kMaxText / 4, kMaxText));
    append({"\0", 1}, kMaxFact);
  }
  if (length + ranks.size() > kMaxFact) ranks = ranks.substr(0, ranks.rfind(',', kMaxFact - length));
  append(ranks, kMaxFact);
  message.record = {{now_ns(), Kind::kGroup, 0, 0, 0}, id, pointer, rank, size};
  if (push_text(message, length)) g_seen.insert(id);
  return id;
}

void hook_fired(unsigned hook) noexcept {
  if (hook >= kMostHooks) return;
  const std::uint32_t epoch = g_epoch.load(std::memory_order_acquire);
  if (t_state.epoch == epoch) [[likely]] {
    // The ring's thread is the only writer of its counters.
    std::atomic<std::uint64_t>& fired = hook_counters(*t_state.ring).fired[hook];
    fired.store(fired.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  } else if (epoch != kNoEpoch) {
    g_recording->rings().header().hook_fired[hook].fetch_add(1, std::memory_order_relaxed);
  }
}

void hook_state(unsigned hook, std::string_view name, bool active, std::string_view detail) noexcept {
  const ControlLock lock;
  hook_table().set(hook, name, active, detail);
}

void stop(int status, int signal) noexcept {
  const ControlLock lock;
  const State state = g_state.load(std::memory_order_acquire);
  if (state != State::kPending && state != State::kRecording) return;
  if (active() && t_state.epoch == g_epoch.load(std::memory_order_acquire)) {
    settle_stale(*t_state.ring, ~std::uint64_t{0}, now_ns());
  }
  g_epoch.store(kNoEpoch, std::memory_order_release);
  ExitDetails details = exit_details();
  details.status = status;
  details.signal = signal;
  if (!g_recording->close(details)) log().line("the writer did not come to an end in time; the ring holds the rest");
  // Once more: the writer may have followed the control file in the meantime.
  g_epoch.store(kNoEpoch, std::memory_order_release);
  g_state.store(State::kStopped, std::memory_order_release);
}

void set_exception(std::string_view type, std::string_view message) noexcept {
  const ControlLock lock;
  exit_details().exception_class = type;
  exit_details().exception_message = message;
}

void fork_prepare() noexcept { pthread_mutex_lock(&g_control); }

void fork_parent() noexcept { pthread_mutex_unlock(&g_control); }

void fork_child() noexcept {
  pthread_mutex_init(&g_control, nullptr);
  g_epoch.store(kNoEpoch, std::memory_order_release);
  if (g_recording != nullptr) g_recording->abandon();
  g_recording = nullptr;
  renew_log_after_fork();
  g_state.store(State::kIdle, std::memory_order_release);
}

}  // namespace plumbline::recorder
