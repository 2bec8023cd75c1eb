// Captures of collectives whose tensors are on a device (NCCL), in a diagnosis: the same captures as
// shim/torch/collective_captures.hpp makes of tensors in host memory.
//
// Copies to pinned host memory are put into the stream that the collective itself runs in: of the inputs before it, of
// the outputs behind it and before anything that waits for it. So they see what it sees, no thread of the job waits,
// and no other stream is held up. What has arrived is written when a later call or step looks.
#pragma once

#include <cstdint>

#include "recorder/event.hpp"

namespace plumbline::shim::adapter {

// See PlumblineAdapter.
void expect_device_call(recorder::Op op, void* backend, void* const* arguments,
                        const recorder::CollectiveRecord* record) noexcept;
void device_call(std::uint64_t id, void* stream, bool done) noexcept;

// Writes the copies that have arrived; never waits.
void write_device_calls() noexcept;

}  // namespace plumbline::shim::adapter
