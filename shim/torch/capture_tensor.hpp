// Hands a tensor, a number or a note to the recorder, with as much of it as the settings want of its probe.
//
//   CaptureTarget target;
//   target.probe = "grad";
//   target.name = "layer.weight";
//   capture_tensor(tensor, target);
//
// Never raises, changes no number, needs no interpreter lock. False when nothing was kept.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>
#include <vector>

#include "shim/torch/tensor_elements.hpp"

namespace plumbline::shim::adapter {

// What a capture is of; docs/trace-format.md has the names.
struct CaptureTarget {
  std::string probe;
  std::string name;
  std::int64_t step = -1;
  std::uint32_t occurrence = 0;
  std::uint64_t key = 0;
  std::string detail;                       // JSON object
  std::string placement;                    // in the job's words
  std::vector<std::uint64_t> global_shape;  // empty: the tensor is the whole
  std::vector<std::uint64_t> offset;
  std::vector<std::int32_t> replicas;
};

// A tensor without dense elements in reach becomes a note.
bool capture_tensor(const at::Tensor& tensor, const CaptureTarget& target, Interval interval = {}) noexcept;
bool capture_number(double value, const CaptureTarget& target) noexcept;
bool capture_note(const CaptureTarget& target) noexcept;

// Whether the settings keep anything of a probe.
bool is_wanted(const char* probe) noexcept;

}  // namespace plumbline::shim::adapter
