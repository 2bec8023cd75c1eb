#include "shim/torch/part_elements.hpp"

#include <algorithm>

#include "recorder/capture_sample.hpp"
#include "shim/torch/host.hpp"

namespace plumbline::shim::adapter {

PartElements::PartElements(const CollectivePart& part) : blocks_(part.blocks) {
  elements_.reserve(part.tensors.size());
  for (const at::Tensor& tensor : part.tensors) elements_.emplace_back(tensor, Interval{});
  std::uint64_t there = 0;
  for (const TensorElements& one : elements_) {
    if (!one.readable() || !one.on_host() || one.dtype() != elements_.front().dtype()) return;
    there += one.count();
  }
  if (elements_.empty() || (elements_.size() > 1 && elements_.size() != blocks_.size())) return;
  // The job's splits are looked at before PyTorch has: none may reach past its tensor, not even where they add up.
  for (std::size_t i = 0; i < blocks_.size(); ++i) {
    if (blocks_[i] > there - count_ || (elements_.size() > 1 && blocks_[i] != elements_[i].count())) return;
    count_ += blocks_[i];
  }
  readable_ = there == count_;
}

std::vector<std::uint64_t> PartElements::shape() const {
  return elements_.size() == 1 ? elements_.front().shape() : std::vector<std::uint64_t>{count_};
}

std::vector<std::uint8_t> PartElements::all() {
  std::vector<std::uint8_t> bytes;
  for (TensorElements& one : elements_) {
    const std::uint8_t* const data = one.all();
    if (data == nullptr) return {};
    bytes.insert(bytes.end(), data, data + one.bytes());
  }
  return bytes;
}

std::vector<std::uint64_t> PartElements::hashes() {
  std::vector<std::uint64_t> found;
  const std::uint8_t* data = nullptr;
  std::uint64_t offset = 0;
  for (std::size_t i = 0; i < blocks_.size(); ++i) {
    TensorElements& one = elements_[elements_.size() == 1 ? 0 : i];
    if (i == 0 || elements_.size() > 1) {
      data = one.all();
      offset = 0;
    }
    if (data == nullptr) return {};
    const std::uint64_t bytes = one.count() == 0 ? 0 : one.bytes() / one.count() * blocks_[i];
    found.push_back(host().capture_hash(data + offset, bytes));
    offset += bytes;
  }
  return found;
}

std::vector<std::uint64_t> PartElements::places(std::uint64_t a_block) const {
  std::vector<std::uint64_t> found;
  std::uint64_t first = 0;
  for (const std::uint64_t block : blocks_) {
    const std::uint64_t size = recorder::sample_size(block, a_block);
    for (std::uint64_t i = 0; i < size; ++i) found.push_back(first + recorder::sample_place(i, block, a_block));
    first += block;
  }
  return found;
}

std::vector<std::uint8_t> PartElements::gather(const std::vector<std::uint64_t>& places) {
  std::vector<std::uint8_t> bytes;
  std::vector<std::uint8_t> some;
  std::vector<std::uint64_t> local;
  std::uint64_t first = 0;
  auto place = places.begin();
  for (TensorElements& one : elements_) {
    local.clear();
    for (; place != places.end() && *place < first + one.count(); ++place) local.push_back(*place - first);
    first += one.count();
    if (local.empty()) continue;
    if (!one.gather(local, some)) return {};
    bytes.insert(bytes.end(), some.begin(), some.end());
  }
  return bytes;
}

}  // namespace plumbline::shim::adapter
