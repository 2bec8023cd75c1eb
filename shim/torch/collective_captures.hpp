// What collectives are given and what they leave, as captures `collective.in` and `collective.out`;
// docs/trace-format.md has their form. At steps that the settings choose; else each of these is a look at one or two
// numbers.
//
// Inputs are read before the real call. Outputs are read when the backend is done and before anybody is woken who waits
// for it: the job has had no chance to write to them. Between the two no tensor is kept alive.
#pragma once

#include <cstddef>
#include <cstdint>

#include "recorder/event.hpp"
#include "shim/torch/capture_part.hpp"
#include "shim/torch/collective_tensors.hpp"

namespace plumbline::shim::adapter {

// What all captures of a call say of it.
CollectiveCapture describe_capture(recorder::Op op, const recorder::CollectiveRecord& record, void* const* arguments,
                                   const CollectiveTensors& tensors, int size);

// See PlumblineAdapter.
void take_inputs(recorder::Op op, void* backend, void* const* arguments,
                 const recorder::CollectiveRecord* record) noexcept;
void collective_begins(std::uint64_t id) noexcept;
void collective_ends(std::uint64_t id, bool completed) noexcept;
std::size_t outputs_follow(std::uint64_t id) noexcept;
std::size_t tensor_copied(const void* tensor) noexcept;

}  // namespace plumbline::shim::adapter
