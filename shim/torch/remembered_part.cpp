#include "shim/torch/remembered_part.hpp"

#include <cstring>

#include "shim/torch/part_elements.hpp"

namespace plumbline::shim::adapter {
namespace {

constexpr std::uint64_t kKept = 8;  // elements of a block

std::vector<std::uint32_t> versions_of(const Tensors& tensors) {
  std::vector<std::uint32_t> versions;
  for (const at::Tensor& tensor : tensors) {
    const c10::VariableVersion& version = tensor.unsafeGetTensorImpl()->version_counter();
    versions.push_back(version.enabled() ? version.current_version() : 0);
  }
  return versions;
}

}  // namespace

RememberedPart::RememberedPart(const CollectivePart& part) : blocks_(part.blocks), even_(part.even) {
  for (const at::Tensor& tensor : part.tensors) {
    tensors_.emplace_back(tensor.getIntrusivePtr());
    // Of others it cannot be told cheaply which places they leave out.
    if (!tensor.has_storage() || !tensor.is_non_overlapping_and_dense()) continue;
    const auto begin = reinterpret_cast<std::uintptr_t>(tensor.const_data_ptr());
    if (begin != 0) extents_.push_back({begin, begin + tensor.nbytes()});
  }
}

std::optional<CollectivePart> RememberedPart::part() const {
  CollectivePart found{{}, blocks_, even_};
  for (const Weak& weak : tensors_) {
    auto tensor = weak.lock();
    if (!tensor.defined()) return std::nullopt;
    found.tensors.emplace_back(std::move(tensor));
  }
  return found;
}

bool RememberedPart::holds(const at::Tensor& tensor) const {
  for (const Weak& weak : tensors_) {
    if (weak._unsafe_get_target() == tensor.unsafeGetTensorImpl()) return true;
  }
  return false;
}

bool RememberedPart::overlaps(const RememberedPart& other) const {
  for (const Extent& mine : extents_) {
    for (const Extent& one : other.extents_) {
      if (mine.begin < one.end && one.begin < mine.end) return other.part().has_value();
    }
  }
  return false;
}

void RememberedPart::look(bool hashed) {
  const auto here = part();
  if (!here) return;
  PartElements elements(*here);
  if (!elements.readable()) return;
  versions_ = versions_of(here->tensors);
  places_ = elements.places(kKept);
  sample_ = elements.gather(places_);
  if (hashed) hashes_ = elements.hashes();
}

bool RememberedPart::written() const {
  const auto here = part();
  return here && !versions_.empty() && versions_of(here->tensors) != versions_;
}

bool RememberedPart::changed() const {
  const auto here = part();
  if (!here || versions_.empty()) return false;
  if (versions_of(here->tensors) != versions_) return true;
  PartElements elements(*here);
  if (!elements.readable()) return true;
  return elements.gather(places_) != sample_ || (!hashes_.empty() && elements.hashes() != hashes_);
}

std::vector<std::size_t> RememberedPart::untouched() const {
  std::vector<std::size_t> found;
  const auto here = part();
  if (!here || places_.empty()) return found;
  PartElements elements(*here);
  const std::vector<std::uint8_t> now = elements.readable() ? elements.gather(places_) : std::vector<std::uint8_t>();
  if (now.size() != sample_.size()) return found;
  const std::size_t size = now.size() / places_.size();
  std::size_t place = 0;
  std::uint64_t end = 0;
  for (std::size_t block = 0; block < blocks_.size(); ++block) {
    end += blocks_[block];
    const std::size_t first = place;
    while (place < places_.size() && places_[place] < end) ++place;
    const std::size_t bytes = (place - first) * size;
    if (bytes > 0 && std::memcmp(now.data() + first * size, sample_.data() + first * size, bytes) == 0) {
      found.push_back(block);
    }
  }
  return found;
}

}  // namespace plumbline::shim::adapter
