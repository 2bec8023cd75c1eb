// An adapter that needs no torch: it tells of every call what the preload object handed to it. Built twice, once as of
// another version of plumbline.
#include <atomic>
#include <cstdio>

#include "shim/adapter_api.hpp"

namespace {

using plumbline::recorder::CollectiveRecord;
using plumbline::recorder::Op;

const PlumblineHost* host = nullptr;

void describe(Op op, void* backend, void* const* arguments, CollectiveRecord* record) {
  record->group = host->define_group("0", "default_pg", "gloo", "", 0, 2, reinterpret_cast<std::uint64_t>(backend));
  record->header.tag = plumbline::recorder::collective_tag(
      op, plumbline::recorder::ReduceOp::kSum, plumbline::recorder::Dtype::kFloat32, plumbline::recorder::Layer::kC10d);
  record->buffer_in = reinterpret_cast<std::uint64_t>(arguments[0]);
  if (op == Op::kSend || op == Op::kRecv) {
    record->peer = static_cast<std::int32_t>(reinterpret_cast<std::intptr_t>(arguments[1]));
    record->tensor_tag = static_cast<std::int32_t>(reinterpret_cast<std::intptr_t>(arguments[2]));
  }
}

std::uint64_t group_of(void* /*backend*/) { return 0; }

// What the preload object tells of captured calls, in its order: "taken 3", "begins 3", "ends 3".
void tell(const char* what, std::uint64_t id) {
  static std::atomic<int> told{0};
  char key[32];
  char value[48];
  std::snprintf(key, sizeof key, "adapter.told.%d", told++);
  std::snprintf(value, sizeof value, "%s %llu", what, static_cast<unsigned long long>(id));
  host->fact(key, value);
}

const PlumblineAdapter adapter{
    FAKE_ADAPTER_VERSION,
    sizeof(PlumblineAdapter),
    describe,
    group_of,
    [](void* /*range*/, std::uint8_t /*scope*/) {},
    [](const void* /*weight*/, const void* /*indices*/) {},
    [](Op, void*, void* const*, const CollectiveRecord* record) { tell("taken", record->id); },
    [](std::uint64_t id) { tell("begins", id); },
    [](std::uint64_t id, bool completed) { tell(completed ? "ends" : "fails", id); },
    [](std::uint64_t id) -> std::size_t {
      tell("follows", id);
      return 1;
    },
    [](const void* /*tensor*/) -> std::size_t { return 0; },
    [](Op, void*, void* const*, const CollectiveRecord* record) { tell("expected", record->id); },
    [](std::uint64_t id, void* /*stream*/, bool done) { tell(done ? "enqueued" : "enqueues", id); },
};

}  // namespace

extern "C" const PlumblineAdapter* plumbline_adapter_init(const PlumblineHost* table) {
  host = table;
  host->fact("adapter.test", host->active() && host->now_ns() != 0 ? "started" : "started while inactive");
  host->set_exception("FakeError", "as the glue would note it");
  return &adapter;
}
