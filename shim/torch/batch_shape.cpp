#include "shim/torch/batch_shape.hpp"

#include <ATen/core/Tensor.h>
#include <c10/core/impl/TorchDispatchModeTLS.h>

#include <atomic>
#include <exception>
#include <string>

#include "shim/torch/host.hpp"

namespace plumbline::shim::adapter {
namespace {

using recorder::Counter;
using recorder::SampleRecord;

std::atomic<std::int64_t> largest_vocabulary{0};

// Sizes as the tensor itself stores them: none of a subclass's own code runs. Empty where they are symbols.
c10::IntArrayRef sizes_of(const at::Tensor& tensor) {
  if (!tensor.defined() || tensor.is_nested() || tensor.unsafeGetTensorImpl()->has_symbolic_sizes_strides()) return {};
  return tensor.unsafeGetTensorImpl()->sizes_default();
}

// False: another embedding speaks for the batch.
bool speaks(std::int64_t vocabulary, std::int64_t hidden) {
  std::int64_t largest = largest_vocabulary.load(std::memory_order_relaxed);
  if (vocabulary <= largest) return vocabulary == largest;
  if (!largest_vocabulary.compare_exchange_strong(largest, vocabulary, std::memory_order_relaxed)) return false;
  host().fact("model.vocabulary", std::to_string(vocabulary).c_str());
  host().fact("model.hidden", std::to_string(hidden).c_str());
  return true;
}

void push(std::uint64_t now, Counter counter, std::int64_t value) noexcept {
  const SampleRecord record{
      {now, recorder::Kind::kSample, recorder::slots_of<SampleRecord>(), 0, static_cast<std::uint32_t>(counter)},
      value,
      0};
  host().push(&record.header);
}

}  // namespace

void note_embedding(const void* weight, const void* indices) noexcept {
  if (!host().active()) return;
  try {
    // A compiler that traces the model, and what counts its operations, look nothing up.
    if (c10::impl::TorchDispatchModeTLS::any_modes_set()) return;
    const c10::IntArrayRef table = sizes_of(*static_cast<const at::Tensor*>(weight));
    const c10::IntArrayRef batch = sizes_of(*static_cast<const at::Tensor*>(indices));
    if (table.size() != 2 || batch.empty() || !speaks(table[0], table[1])) return;
    std::int64_t rows = 1;
    for (const std::int64_t size : batch.slice(0, batch.size() - 1)) rows *= size;
    const std::uint64_t now = host().now_ns();
    push(now, Counter::kBatchRows, rows);
    push(now, Counter::kBatchLength, batch.back());
  } catch (const std::exception&) {
    return;  // a tensor without sizes
  }
}

}  // namespace plumbline::shim::adapter
