#include <algorithm>
#include <cstring>
#include <utility>

#include "reader/captures.hpp"
#include "reader/definition_reader.hpp"
#include "reader/messages.hpp"
#include "recorder/dtype_size.hpp"
#include "recorder/trace_generated.h"

namespace plumbline::reader {
namespace {

std::string text_of(const flatbuffers::String* text) { return text != nullptr ? text->str() : std::string(); }

template <class T>
std::vector<T> numbers_of(const flatbuffers::Vector<T>* numbers) {
  return numbers != nullptr ? std::vector<T>(numbers->begin(), numbers->end()) : std::vector<T>();
}

std::optional<CaptureStatistics> statistics_of(const trace::Capture& c) {
  if (!c.has_statistics()) return std::nullopt;
  return CaptureStatistics{c.elements(), c.sum(), c.norm(), c.absmax(), c.nans(), c.infs(), c.zeros()};
}

Capture capture_of(const trace::Capture& c) {
  Capture out;
  out.time_ns = c.time_ns();
  out.probe = text_of(c.probe());
  out.name = text_of(c.name());
  out.step = c.step();
  out.occurrence = c.occurrence();
  out.key = c.key();
  out.dtype = static_cast<recorder::Dtype>(c.dtype());
  out.amount = static_cast<CaptureAmount>(c.amount());
  out.shape = numbers_of(c.shape());
  out.global_shape = c.global_shape() != nullptr ? numbers_of(c.global_shape()) : out.shape;
  out.offset = numbers_of(c.offset());
  out.offset.resize(out.global_shape.size());
  out.replicas = numbers_of(c.replicas());
  out.placement = text_of(c.placement());
  out.device = text_of(c.device());
  out.indices = numbers_of(c.indices());
  out.statistics = statistics_of(c);
  out.hash_kind = static_cast<CaptureHash>(c.hash_kind());
  out.hash = c.hash();
  out.detail = text_of(c.detail());
  out.blocks = numbers_of(c.blocks());
  return out;
}

// A sample's places must lie in the tensor and rise, so that nobody has to look again.
bool sound_sample(const Capture& capture) {
  const std::uint64_t elements = capture.elements();
  std::uint64_t least = 0;
  for (const std::uint64_t place : capture.indices) {
    if (place < least || place >= elements) return false;
    least = place + 1;
  }
  return true;
}

bool goes_on(const Capture& whole, const trace::Capture& part) {
  return whole.captured() == part.first() && whole.probe == text_of(part.probe()) &&
         whole.name == text_of(part.name()) && whole.step == part.step() && whole.occurrence == part.occurrence() &&
         whole.key == part.key();
}

// Of a part; empty when the file has changed. A frame that is still in the buffer is not read again.
std::span<const std::uint8_t> elements_of(const Capture::Part& part, const FrameFile& file, FrameBuffer& buffer,
                                          Frame& frame) {
  const bool there = !frame.data.empty() && frame.offset == part.frame_offset;
  if (!there && !file.load(part.frame_offset, buffer, frame)) {
    frame = {};
    return {};
  }
  MessageCounts counts;
  MessageWalk walk(frame.data, counts);
  const trace::Message* message = walk.next();
  while (message != nullptr && walk.index() != part.message) message = walk.next();
  const trace::Captures* batch = message != nullptr ? message->body_as_Captures() : nullptr;
  if (batch == nullptr || batch->captures() == nullptr || batch->captures()->size() <= part.row) return {};
  const auto* data = batch->captures()->Get(part.row)->data();
  if (data == nullptr || data->size() != part.bytes) return {};
  return {data->data(), data->size()};
}

}  // namespace

std::uint64_t Capture::elements() const {
  std::uint64_t product = 1;
  for (const std::uint64_t extent : shape) {
    if (__builtin_mul_overflow(product, extent, &product)) return 0;
  }
  return product;
}

std::uint64_t Capture::captured() const {
  std::uint64_t bytes = 0;
  for (const Part& part : parts) bytes += part.bytes;
  const std::size_t size = recorder::size_of(dtype);
  return size > 0 ? bytes / size : 0;
}

std::span<const std::uint8_t> CaptureCursor::from(std::uint64_t offset) {
  if (offset < part_begin_) part_begin_ = part_ = 0;
  while (part_ < parts_.size() && offset >= part_begin_ + parts_[part_].bytes) part_begin_ += parts_[part_++].bytes;
  if (part_ == parts_.size()) return {};
  const std::span<const std::uint8_t> elements = elements_of(parts_[part_], *file_, buffer_, frame_);
  return elements.empty() ? elements : elements.subspan(offset - part_begin_);
}

Result<CaptureFile> CaptureFile::open(const std::string& path) {
  Result<File> file = File::open(path);
  if (!file.ok()) return file.status();
  if (file->size() == 0) return Status(Code::kEmpty, path + " is empty: no capture was written to it.");
  CaptureFile captures{FrameFile(std::move(*file))};
  captures.read();
  if (captures.has_process_) return captures;
  if (captures.captures_.empty() && captures.damage_.empty())
    return Status(Code::kForeign, path + " is not a file of Plumbline captures.");
  return Status(Code::kDamaged, path + " does not say whose captures it holds: its beginning is damaged.");
}

void CaptureFile::set_rank(int rank) {
  process_.rank = rank;
  for (Capture& capture : captures_) capture.rank = rank;
}

void CaptureFile::read() {
  MessageCounts counts;
  std::optional<Damage> damage;
  for (FrameFile::Position at; file_.next(at, buffer_, frame_, damage);) {
    if (damage) damage_.push_back(*std::exchange(damage, std::nullopt));
    clean_end_ = frame_.seek_table;
    if (frame_.seek_table) continue;
    MessageWalk walk(frame_.data, counts);
    while (const trace::Message* message = walk.next()) take(*message, frame_.offset, walk.index());
  }
  if (damage) damage_.push_back(*damage);
  frame_ = {};
  if (counts.malformed + counts.stray_bytes > 0)
    damage_.push_back({0, counts.stray_bytes, "Messages in whole frames do not hold what they say.", false});
}

void CaptureFile::take(const trace::Message& message, std::uint64_t frame_offset, std::uint32_t index) {
  if (message.body_type() == trace::Body::Process) {
    Definitions definitions;
    absorb_definition(message, definitions);
    process_ = definitions.process;
    has_process_ = true;
    return;
  }
  const trace::Captures* batch = message.body_as_Captures();
  if (batch == nullptr || batch->captures() == nullptr) return;
  std::uint32_t row = 0;
  for (const trace::Capture* c : *batch->captures()) {
    const Capture::Part part{frame_offset, index, row++, c->first(), c->data() != nullptr ? c->data()->size() : 0};
    if (c->first() > 0) {
      // Damage may have taken the beginning: the rest of another tensor is no part of this one.
      if (!captures_.empty() && goes_on(captures_.back(), *c)) captures_.back().parts.push_back(part);
      continue;
    }
    Capture capture = capture_of(*c);
    capture.rank = process_.rank;
    if (part.bytes > 0) capture.parts.push_back(part);
    if (sound_sample(capture)) captures_.push_back(std::move(capture));
  }
}

void CaptureFile::load(const Capture& capture, std::vector<std::uint8_t>& bytes) {
  bytes.clear();
  std::uint64_t whole = 0;
  for (const Capture::Part& part : capture.parts) whole += part.bytes;
  bytes.reserve(whole);
  for (const Capture::Part& part : capture.parts) {
    const std::span<const std::uint8_t> elements = elements_of(part, file_, buffer_, frame_);
    if (elements.empty()) {
      bytes.clear();
      return;
    }
    bytes.insert(bytes.end(), elements.begin(), elements.end());
  }
}

std::span<const std::uint8_t> CaptureFile::load(const Capture& capture) {
  load(capture, elements_);
  return elements_;
}

}  // namespace plumbline::reader
