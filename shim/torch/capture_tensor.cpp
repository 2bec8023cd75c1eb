#include "shim/torch/capture_tensor.hpp"

#include <exception>

#include "recorder/capture_sample.hpp"
#include "shim/torch/host.hpp"
#include "shim/torch/statistics.hpp"

namespace plumbline::shim::adapter {
namespace {

using recorder::Capture;
using recorder::CaptureAmount;
using recorder::CaptureHash;
using recorder::CaptureStatistics;
using recorder::CaptureWish;

// What the parts of a capture borrow from.
struct Parts {
  std::vector<std::uint64_t> places;
  std::vector<std::uint8_t> sample;
  CaptureStatistics statistics{};
};

Capture describe(const CaptureTarget& target) noexcept {
  Capture capture{};
  capture.time_ns = host().now_ns();
  capture.probe = target.probe.c_str();
  capture.name = target.name.c_str();
  capture.step = target.step;
  capture.occurrence = target.occurrence;
  capture.key = target.key;
  capture.detail = target.detail.c_str();
  capture.placement = target.placement.c_str();
  if (!target.global_shape.empty() && target.global_shape.size() == target.offset.size()) {
    capture.global_shape = target.global_shape.data();
    capture.offset = target.offset.data();
    capture.global_dimensions = target.global_shape.size();
  }
  capture.replicas = target.replicas.data();
  capture.replica_count = target.replicas.size();
  return capture;
}

void take_sample(TensorElements& elements, std::uint64_t count, Capture& capture, Parts& parts) {
  const std::uint64_t size = recorder::sample_size(elements.count(), count);
  for (std::uint64_t i = 0; i < size; ++i) parts.places.push_back(recorder::sample_place(i, elements.count(), count));
  if (!elements.gather(parts.places, parts.sample)) return;
  capture.amount = CaptureAmount::kSample;
  capture.indices = parts.places.data();
  capture.index_count = parts.places.size();
  capture.data = parts.sample.data();
  capture.data_bytes = parts.sample.size();
}

void take_hash(TensorElements& elements, Capture& capture) {
  if (!elements.on_host() && elements.torch_hash(capture.hash)) {
    capture.hash_kind = CaptureHash::kTorchHash;
  } else if (const std::uint8_t* all = elements.all()) {
    capture.hash_kind = CaptureHash::kXxh3;
    capture.hash = host().capture_hash(all, elements.bytes());
  }
}

void take_statistics(TensorElements& elements, Capture& capture, Parts& parts) {
  const std::uint8_t* const all = elements.all();
  if (all == nullptr) return;
  parts.statistics = statistics_of(all, elements.dtype(), elements.count());
  capture.statistics = &parts.statistics;
}

void take_elements(TensorElements& elements, const CaptureWish& wish, Capture& capture, Parts& parts) {
  // One element is cheaper to keep than to hash: a loss, a step counter.
  if (elements.count() == 1 || (elements.bytes() <= wish.full_bytes && wish.full_bytes > 0)) {
    if (const std::uint8_t* all = elements.all()) {
      capture.amount = CaptureAmount::kFull;
      capture.data = all;
      capture.data_bytes = elements.bytes();
    }
  } else if (wish.samples > 0) {
    take_sample(elements, wish.samples, capture, parts);
  }
  if (wish.hash) take_hash(elements, capture);
  if (wish.statistics) take_statistics(elements, capture, parts);
}

bool is_nothing(const CaptureWish& wish) noexcept {
  return wish.full_bytes == 0 && wish.samples == 0 && !wish.hash && !wish.statistics;
}

}  // namespace

bool is_wanted(const char* probe) noexcept { return !is_nothing(host().capture_wish(probe)); }

bool capture_tensor(const at::Tensor& tensor, const CaptureTarget& target, Interval interval) noexcept {
  try {
    const CaptureWish wish = host().capture_wish(target.probe.c_str());
    if (is_nothing(wish)) return false;
    Capture capture = describe(target);
    TensorElements elements(tensor, interval);
    Parts parts;
    const std::string device = tensor.defined() ? tensor.device().str() : "";
    capture.device = device.c_str();
    capture.dtype = elements.dtype();
    capture.shape = elements.shape().data();
    capture.dimensions = elements.shape().size();
    if (elements.readable()) take_elements(elements, wish, capture, parts);
    return host().capture(&capture);
  } catch (const std::exception&) {
    return false;
  }
}

bool capture_number(double value, const CaptureTarget& target) noexcept {
  if (!is_wanted(target.probe.c_str())) return false;
  Capture capture = describe(target);
  capture.dtype = recorder::Dtype::kFloat64;
  capture.amount = CaptureAmount::kFull;
  capture.data = reinterpret_cast<const std::uint8_t*>(&value);
  capture.data_bytes = sizeof value;
  return host().capture(&capture);
}

bool capture_note(const CaptureTarget& target) noexcept {
  const Capture capture = describe(target);
  return host().capture(&capture);
}

}  // namespace plumbline::shim::adapter
