#include "shim/torch/capture_part.hpp"

#include <algorithm>
#include <vector>

#include "recorder/operations.hpp"
#include "shim/torch/host.hpp"
#include "shim/torch/part_elements.hpp"

namespace plumbline::shim::adapter {
namespace {

using recorder::Capture;
using recorder::CaptureAmount;
using recorder::CaptureWish;

constexpr const char* kIn = "collective.in";
constexpr const char* kOut = "collective.out";
// Blocks that stayed as they were are told up to so many: of more, all of them held the same before.
constexpr std::size_t kMostUntouched = 16;
// Of each of many blocks at least so many elements.
constexpr std::uint64_t kLeastOfBlock = 16;

// What a capture borrows from.
struct Row {
  std::vector<std::uint64_t> shape;
  std::vector<std::uint64_t> places;
  std::vector<std::uint64_t> hashes;
  std::vector<std::uint8_t> data;
  std::string detail;
};

Capture start(const CollectiveCapture& call, const char* probe, std::size_t index) {
  Capture capture{};
  capture.time_ns = host().now_ns();
  capture.probe = probe;
  capture.name = call.name.c_str();
  capture.step = call.step;
  capture.occurrence = static_cast<std::uint32_t>(index);
  capture.key = call.id;
  return capture;
}

template <class Numbers>
std::string list(const Numbers& numbers) {
  std::string text = "[";
  for (const auto number : numbers) text += (text.size() > 1 ? "," : "") + std::to_string(number);
  return text + "]";
}

std::string detail_of(const CollectiveCapture& call, const CollectivePart& part, std::size_t index, std::size_t parts) {
  std::string text = call.detail + ",\"tensor\":" + std::to_string(index) + ",\"tensors\":" + std::to_string(parts) +
                     ",\"blocks\":" + std::to_string(part.blocks.size());
  const auto is_strided = [](const at::Tensor& tensor) { return tensor.defined() && !tensor.is_contiguous(); };
  if (std::any_of(part.tensors.begin(), part.tensors.end(), is_strided)) text += ",\"strided\":true";
  if (!part.even) text += ",\"splits\":" + list(part.blocks);
  return text;
}

void take_elements(const CollectiveCapture& call, PartElements& elements, const CaptureWish& wish, bool even,
                   Capture& capture, Row& row) {
  const bool moved = !recorder::is_reduction(call.op);
  if (elements.count() <= std::max<std::uint64_t>(wish.samples, 1) || elements.count() == 0) {
    row.data = elements.all();
    capture.amount = CaptureAmount::kFull;
  } else if (wish.samples > 0 && even && !(moved && wish.hash)) {
    const std::uint64_t a_block =
        std::max(wish.samples / call.divided, std::min<std::uint64_t>(wish.samples, kLeastOfBlock));
    row.places = elements.places(a_block);
    row.data = elements.gather(row.places);
    capture.amount = CaptureAmount::kSample;
  }
  if (row.data.empty()) capture.amount = CaptureAmount::kNote;
  if (wish.hash && (moved || capture.probe == kOut)) row.hashes = elements.hashes();
}

void write(Capture& capture, Row& row) {
  capture.shape = row.shape.data();
  capture.dimensions = row.shape.size();
  capture.indices = row.places.data();
  capture.index_count = row.places.size();
  capture.blocks = row.hashes.data();
  capture.block_count = row.hashes.size();
  capture.data = row.data.data();
  capture.data_bytes = row.data.size();
  row.detail += "}";
  capture.detail = row.detail.c_str();
  host().capture(&capture);
}

void capture_part(const CollectiveCapture& call, const char* probe, const CollectivePart& part, std::size_t index,
                  Row& row) {
  PartElements elements(part);
  if (!elements.readable()) return;
  Capture capture = start(call, probe, index);
  capture.device = "cpu";
  capture.dtype = elements.dtype();
  row.shape = elements.shape();
  take_elements(call, elements, host().capture_wish(probe), part.even, capture, row);
  write(capture, row);
}

}  // namespace

void capture_input(const CollectiveCapture& call, const CollectivePart& part, std::size_t index, std::size_t parts) {
  Row row;
  row.detail = detail_of(call, part, index, parts);
  capture_part(call, kIn, part, index, row);
}

void capture_output(const CollectiveCapture& call, const RememberedPart& part, std::size_t index, std::size_t parts,
                    const OutputFacts& facts) {
  const auto here = part.part();
  if (!here) return;
  Row row;
  row.detail = detail_of(call, *here, index, parts);
  if (facts.changed) row.detail += ",\"changed\":true";
  if (facts.shared) row.detail += ",\"shared\":true";
  if (const auto blocks = facts.apart ? part.untouched() : std::vector<std::size_t>();
      !blocks.empty() && blocks.size() <= kMostUntouched) {
    row.detail += ",\"untouched\":" + list(blocks);
  }
  capture_part(call, kOut, *here, index, row);
}

void capture_changed_input(const CollectiveCapture& call) {
  Row row;
  row.detail = call.detail + ",\"changed\":true";
  Capture capture = start(call, kOut, 0);
  write(capture, row);
}

}  // namespace plumbline::shim::adapter
