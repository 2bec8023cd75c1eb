// An adapter that needs no torch: it tells of every call what the preload object handed to it. Built twice, once as of
// another version of plumbline.
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

const PlumblineAdapter adapter{FAKE_ADAPTER_VERSION, sizeof(PlumblineAdapter), describe, group_of,
                               [](void* /*range*/, std::uint8_t /*scope*/) {}};

}  // namespace

extern "C" const PlumblineAdapter* plumbline_adapter_init(const PlumblineHost* table) {
  host = table;
  host->fact("adapter.test", host->active() && host->now_ns() != 0 ? "started" : "started while inactive");
  host->set_exception("FakeError", "as the glue would note it");
  return &adapter;
}
