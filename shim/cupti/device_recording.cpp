#include "shim/cupti/device_recording.hpp"

#include <pthread.h>

#include <array>
#include <cstdlib>
#include <string>

#include "recorder/mutex_lock.hpp"
#include "recorder/recorder.hpp"
#include "shim/core/hook_report.hpp"
#include "shim/cupti/cupti_functions.hpp"
#include "shim/cupti/device_work.hpp"

namespace plumbline::shim::cupti {
namespace {

constexpr std::size_t kBufferBytes = std::size_t{1} << 20;
constexpr std::size_t kBuffers = 16;
constexpr std::uint32_t kFlushPeriodMs = 1000;
constexpr std::array kKinds = {kExternalCorrelation, kConcurrentKernel, kMemcpy, kMemcpyPeer, kMemset};

enum class State { kUntried, kRecording, kEnded };

pthread_mutex_t g_lock = PTHREAD_MUTEX_INITIALIZER;
constinit std::atomic<State> g_state{State::kUntried};

// Made when recording begins, and kept: CUPTI may hand a buffer back at any later time.
struct Buffers {
  struct alignas(kBufferAlignment) Buffer {
    std::uint8_t bytes[kBufferBytes];
  };
  std::array<Buffer, kBuffers> all;
  std::array<std::atomic<bool>, kBuffers> taken{};
  DeviceWorks works;
  std::atomic<std::uint64_t> dropped{0};
};
constinit std::atomic<Buffers*> g_buffers{nullptr};

void on_requested(std::uint8_t** buffer, std::size_t* size, std::size_t* most_records) {
  *buffer = nullptr;
  *size = 0;
  *most_records = 0;  // as many as fit
  Buffers& buffers = *g_buffers.load(std::memory_order_acquire);
  for (std::size_t i = 0; i < kBuffers; ++i) {
    if (buffers.taken[i].exchange(true, std::memory_order_acq_rel)) continue;
    *buffer = buffers.all[i].bytes;
    *size = kBufferBytes;
    return;
  }
}

void on_completed(void* context, std::uint32_t stream, std::uint8_t* buffer, std::size_t /*size*/,
                  std::size_t valid_size) {
  Buffers& buffers = *g_buffers.load(std::memory_order_acquire);
  const CuptiFunctions& cupti = *functions();
  Record* record = nullptr;
  while (valid_size > 0 && cupti.next_record(buffer, valid_size, &record) == kSuccess) {
    const auto event = buffers.works.take(*record);
    if (event && recorder::active()) {
      recorder::hook_fired(kHookDeviceWork);
      recorder::push(event->header);
    }
  }
  std::size_t dropped = 0;
  if (cupti.dropped_records(context, stream, &dropped) == kSuccess) buffers.dropped.fetch_add(dropped);
  for (std::size_t i = 0; i < kBuffers; ++i) {
    if (buffers.all[i].bytes == buffer) buffers.taken[i].store(false, std::memory_order_release);
  }
}

const char* begin(const CuptiFunctions& cupti) noexcept {
  auto* const buffers = new Buffers;
  g_buffers.store(buffers, std::memory_order_release);
  if (cupti.register_timestamp(recorder::now_ns) != kSuccess) return "CUPTI refuses our clock";
  if (cupti.register_callbacks(on_requested, on_completed) != kSuccess) return "CUPTI refuses our buffers";
  for (const std::uint32_t kind : kKinds) {
    if (cupti.enable(kind) == kSuccess) continue;
    for (const std::uint32_t enabled : kKinds) cupti.disable(enabled);
    return "CUPTI refuses to record activity here (the driver may allow it to root alone)";
  }
  cupti.flush_period(kFlushPeriodMs);
  return nullptr;
}

void end(const char* why) noexcept {
  recording_devices.store(false, std::memory_order_relaxed);
  const CuptiFunctions& cupti = *functions();
  for (const std::uint32_t kind : kKinds) cupti.disable(kind);
  cupti.flush_all(kFlushForced);
  const std::uint64_t dropped = g_buffers.load()->dropped.load();
  // Not as a fact: what filled CUPTI's buffers may have filled the ring too.
  if (dropped > 0) report_hook_on(kHookDeviceWork, "CUPTI dropped " + std::to_string(dropped) + " records");
  if (why != nullptr) report_hook_off(kHookDeviceWork, why);
}

void finish() noexcept {
  const recorder::MutexLock lock(g_lock);
  if (g_state.exchange(State::kEnded, std::memory_order_acq_rel) == State::kRecording) end(nullptr);
}

}  // namespace

void record_devices() noexcept {
  if (g_state.load(std::memory_order_acquire) != State::kUntried) return;
  if (recorder::level() != recorder::Level::kDiagnose) return;
  const recorder::MutexLock lock(g_lock);
  if (g_state.load(std::memory_order_relaxed) != State::kUntried) return;
  const CuptiFunctions* cupti = functions();
  const char* why = cupti != nullptr ? begin(*cupti) : "the process has no CUPTI";
  g_state.store(why == nullptr ? State::kRecording : State::kEnded, std::memory_order_release);
  if (why != nullptr) return report_hook_off(kHookDeviceWork, why);
  report_hook_on(kHookDeviceWork, "");
  // Runs before what CUPTI itself has registered for the end of the process, and before the recorder's end.
  atexit(finish);
  recording_devices.store(true, std::memory_order_release);
}

void yield_devices() noexcept {
  const recorder::MutexLock lock(g_lock);
  const State before = g_state.exchange(State::kEnded, std::memory_order_acq_rel);
  constexpr const char* kWhy = "another profiler has taken CUPTI";
  if (before == State::kRecording) return end(kWhy);
  if (before == State::kUntried && recorder::level() == recorder::Level::kDiagnose)
    report_hook_off(kHookDeviceWork, kWhy);
}

void forget_devices() noexcept {
  pthread_mutex_init(&g_lock, nullptr);
  recording_devices.store(false, std::memory_order_relaxed);
  g_state.store(State::kEnded, std::memory_order_relaxed);
}

void begin_launches_slow(std::uint64_t id) noexcept { functions()->push_correlation(kCustomCorrelation, id); }

void end_launches_slow() noexcept {
  std::uint64_t last = 0;
  functions()->pop_correlation(kCustomCorrelation, &last);
}

}  // namespace plumbline::shim::cupti
