#include "checks/collective_blocks.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

#include "recorder/dtype_size.hpp"

namespace plumbline::checks {
namespace {

std::vector<std::uint64_t> places_of(const reader::Capture& capture) {
  if (!capture.indices.empty()) return capture.indices;
  std::vector<std::uint64_t> places(capture.captured());
  std::iota(places.begin(), places.end(), 0);
  return places;
}

std::vector<Block> read_blocks(reader::RunCaptures& captures, const CallTensor& side) {
  const reader::Capture& capture = *side.capture;
  const std::span<const std::uint8_t> data = captures.load(capture);
  const std::size_t size = recorder::size_of(capture.dtype);
  std::vector<std::uint64_t> places = places_of(capture);
  if (size == 0 || data.size() != places.size() * size) places.clear();
  std::vector<Block> blocks(side.blocks.size());
  std::uint64_t first = 0;
  std::size_t next = 0;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    Block& block = blocks[i];
    block.count = side.blocks[i];
    const std::size_t begin = next;
    for (; next < places.size() && places[next] < first + block.count; ++next)
      block.places.push_back(places[next] - first);
    block.bytes.assign(data.begin() + static_cast<std::ptrdiff_t>(begin * size),
                       data.begin() + static_cast<std::ptrdiff_t>(next * size));
    first += block.count;
    if (capture.blocks.size() == blocks.size()) block.hash = capture.blocks[i];
  }
  for (const std::size_t i : side.untouched) {
    if (i < blocks.size()) blocks[i].untouched = true;
  }
  return blocks;
}

}  // namespace

CallBlocks load_blocks(reader::RunCaptures& captures, const CapturedCall& call, std::size_t tensor) {
  CallBlocks loaded;
  bool alike = true;
  const auto take = [&](const CallTensor* side, std::vector<Block>& blocks) {
    if (side == nullptr) return;
    if (loaded.dtype == recorder::Dtype::kUnknown) loaded.dtype = side->capture->dtype;
    alike = alike && loaded.dtype == side->capture->dtype;
    blocks = read_blocks(captures, *side);
  };
  if (call.reduce == recorder::ReduceOp::kPremulSum) {
    for (const CallMember& member : call.members) loaded.factors.push_back(member.factor.value_or(std::nan("")));
  }
  loaded.in.resize(call.members.size());
  loaded.out.resize(call.members.size());
  for (std::size_t i = 0; i < call.members.size(); ++i) {
    take(call.members[i].input(tensor), loaded.in[i]);
    take(call.members[i].output(tensor), loaded.out[i]);
  }
  // Ranks that gave different types are another check's finding.
  if (!alike) loaded.dtype = recorder::Dtype::kUnknown;
  return loaded;
}

Same compare(const Block& a, const Block& b) {
  if (a.count != b.count) return Same::kUnknown;
  if (a.hash && b.hash) return *a.hash == *b.hash ? Same::kYes : Same::kNo;
  if (a.places.empty() || a.places != b.places) return a.count == 0 ? Same::kYes : Same::kUnknown;
  return a.bytes == b.bytes ? Same::kYes : Same::kNo;
}

}  // namespace plumbline::checks
