// A stand-in for libcupti's activity interface: records of what the standin_cupti_* functions pretend that a device
// did, in the layout of the real header.
#include <cupti.h>

#include <cstdlib>
#include <cstring>
#include <ctime>
#include <mutex>
#include <set>
#include <vector>

namespace {

struct State {
  std::mutex lock;
  CUpti_BuffersCallbackRequestFunc requested = nullptr;
  CUpti_BuffersCallbackCompleteFunc completed = nullptr;
  CUpti_TimestampCallbackFunc timestamp = nullptr;
  std::set<CUpti_ActivityKind> enabled;
  uint8_t* buffer = nullptr;
  size_t size = 0;
  size_t used = 0;
  struct Full {
    uint8_t* buffer;
    size_t size, used;
  };
  std::vector<Full> held;  // with STANDIN_CUPTI_HOLD set, full buffers wait for a flush
  const bool hold = std::getenv("STANDIN_CUPTI_HOLD") != nullptr;
  size_t dropped = 0;
  uint32_t correlation = 0;
};

State& state() {
  static auto* made = new State;
  return *made;
}

thread_local std::vector<uint64_t> external;

uint64_t now(const State& s) {
  if (s.timestamp != nullptr) return s.timestamp();
  timespec time{};
  clock_gettime(CLOCK_REALTIME, &time);
  return static_cast<uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(time.tv_nsec);
}

void deliver(State& s) {
  for (const State::Full& full : s.held) s.completed(nullptr, 0, full.buffer, full.size, full.used);
  s.held.clear();
  if (s.buffer == nullptr) return;
  uint8_t* const buffer = s.buffer;
  s.buffer = nullptr;
  s.completed(nullptr, 0, buffer, s.size, s.used);
}

void end_buffer(State& s) {
  if (!s.hold) return deliver(s);
  s.held.push_back({s.buffer, s.size, s.used});
  s.buffer = nullptr;
}

template <class Record>
void put(State& s, const Record& record) {
  if (s.completed == nullptr || s.enabled.count(record.kind) == 0) return;
  if (s.buffer != nullptr && s.used + sizeof record > s.size) end_buffer(s);
  if (s.buffer == nullptr) {
    size_t most = 0;
    s.used = 0;
    s.requested(&s.buffer, &s.size, &most);
    if (s.buffer == nullptr) {
      ++s.dropped;
      return;
    }
  }
  std::memcpy(s.buffer + s.used, &record, sizeof record);
  s.used += sizeof record;
}

// The numbers that the next work has, after the record of what it was launched for.
uint32_t next_correlation(State& s) {
  const uint32_t number = ++s.correlation;
  if (external.empty()) return number;
  CUpti_ActivityExternalCorrelation record{};
  record.kind = CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION;
  record.externalKind = CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0;
  record.externalId = external.back();
  record.correlationId = number;
  put(s, record);
  return number;
}

size_t size_of(CUpti_ActivityKind kind) {
  switch (kind) {
    case CUPTI_ACTIVITY_KIND_MEMCPY:
      return sizeof(CUpti_ActivityMemcpy6);
    case CUPTI_ACTIVITY_KIND_MEMCPY2:
      return sizeof(CUpti_ActivityMemcpyPtoP4);
    case CUPTI_ACTIVITY_KIND_MEMSET:
      return sizeof(CUpti_ActivityMemset4);
    case CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION:
      return sizeof(CUpti_ActivityExternalCorrelation);
    default:
      return sizeof(CUpti_ActivityKernel10);
  }
}

// One piece of work of device 1, as if it had just begun.
template <class Record, class Fill>
void do_work(CUpti_ActivityKind kind, uint32_t stream, uint64_t nanoseconds, const Fill& fill) {
  const std::lock_guard guard(state().lock);
  Record record{};
  record.kind = kind;
  record.start = now(state());
  record.end = record.start + nanoseconds;
  record.deviceId = 1;
  record.streamId = stream;
  record.correlationId = next_correlation(state());
  fill(record);
  put(state(), record);
}

}  // namespace

extern "C" {

CUptiResult cuptiActivityRegisterCallbacks(CUpti_BuffersCallbackRequestFunc requested,
                                           CUpti_BuffersCallbackCompleteFunc completed) {
  const std::lock_guard guard(state().lock);
  state().requested = requested;
  state().completed = completed;
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityRegisterTimestampCallback(CUpti_TimestampCallbackFunc timestamp) {
  state().timestamp = timestamp;
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityEnable(CUpti_ActivityKind kind) {
  state().enabled.insert(kind);
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityDisable(CUpti_ActivityKind kind) {
  state().enabled.erase(kind);
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityFlushPeriod(uint32_t) { return CUPTI_SUCCESS; }

CUptiResult cuptiActivityFlushAll(uint32_t) {
  const std::lock_guard guard(state().lock);
  deliver(state());
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityGetNextRecord(uint8_t* buffer, size_t valid, CUpti_Activity** record) {
  auto* at = reinterpret_cast<uint8_t*>(*record);
  at = at == nullptr ? buffer : at + size_of((*record)->kind);
  if (at >= buffer + valid) return CUPTI_ERROR_MAX_LIMIT_REACHED;
  *record = reinterpret_cast<CUpti_Activity*>(at);
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityGetNumDroppedRecords(CUcontext, uint32_t, size_t* dropped) {
  *dropped = state().dropped;
  state().dropped = 0;
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityPushExternalCorrelationId(CUpti_ExternalCorrelationKind, uint64_t id) {
  external.push_back(id);
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityPopExternalCorrelationId(CUpti_ExternalCorrelationKind, uint64_t* last) {
  if (external.empty()) return CUPTI_ERROR_QUEUE_EMPTY;
  if (last != nullptr) *last = external.back();
  external.pop_back();
  return CUPTI_SUCCESS;
}

void standin_cupti_launch(const char* name) {
  do_work<CUpti_ActivityKernel10>(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, 7, 5000, [&](auto& r) { r.name = name; });
}

void standin_cupti_copy(uint64_t bytes) {
  do_work<CUpti_ActivityMemcpy6>(CUPTI_ACTIVITY_KIND_MEMCPY, 8, 100, [&](auto& r) {
    r.copyKind = CUPTI_ACTIVITY_MEMCPY_KIND_HTOD;
    r.bytes = bytes;
  });
}

void standin_cupti_peer_copy(uint64_t bytes) {
  do_work<CUpti_ActivityMemcpyPtoP4>(CUPTI_ACTIVITY_KIND_MEMCPY2, 8, 100, [&](auto& r) {
    r.copyKind = CUPTI_ACTIVITY_MEMCPY_KIND_PTOP;
    r.bytes = bytes;
    r.srcDeviceId = 1;
    r.dstDeviceId = 2;
  });
}

void standin_cupti_memset(uint64_t bytes) {
  do_work<CUpti_ActivityMemset4>(CUPTI_ACTIVITY_KIND_MEMSET, 8, 10, [&](auto& r) { r.bytes = bytes; });
}

}  // extern "C"
