#include "checks/raw_tensor.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <span>
#include <utility>

#include "checks/element_values.hpp"
#include "recorder/dtype_size.hpp"

namespace plumbline::checks {
namespace {

constexpr std::size_t kChunk = 4096;

}  // namespace

RawTensor::RawTensor(recorder::Dtype dtype, std::vector<std::uint8_t> bytes)
    : dtype_(dtype), bytes_(bytes.size()), held_(std::move(bytes)) {}

RawTensor::RawTensor(recorder::Dtype dtype, std::uint64_t bytes, reader::CaptureCursor cursor)
    : dtype_(dtype), bytes_(bytes), cursor_(std::make_shared<reader::CaptureCursor>(std::move(cursor))) {}

std::size_t RawTensor::count() const {
  const std::size_t size = recorder::size_of(dtype_);
  return size > 0 ? bytes_ / size : 0;
}

std::vector<std::uint8_t> RawTensor::read(std::size_t first, std::size_t count) const {
  const std::size_t size = recorder::size_of(dtype_);
  const std::size_t end = (first + count) * size;
  std::vector<std::uint8_t> bytes;
  bytes.reserve(count * size);
  for (std::size_t at = first * size; at < end;) {
    std::span<const std::uint8_t> part = cursor_ ? cursor_->from(at) : std::span(held_).subspan(at);
    if (part.empty()) {
      readable_ = false;
      bytes.resize(count * size);
      break;
    }
    part = part.first(std::min(part.size(), end - at));
    bytes.insert(bytes.end(), part.begin(), part.end());
    at += part.size();
  }
  return bytes;
}

void RawTensor::decode(std::size_t first, std::size_t count, std::vector<double>& values) const {
  const std::size_t size = recorder::size_of(dtype_);
  std::span<const std::uint8_t> part = cursor_ ? cursor_->from(first * size) : std::span(held_).subspan(first * size);
  if (part.size() >= count * size) {
    checks::decode(dtype_, part.first(count * size), values);
  } else {
    checks::decode(dtype_, read(first, count), values);
  }
}

bool RawTensor::all_zero() const {
  std::vector<double> values;
  for (std::size_t first = 0; first < count(); first += kChunk) {
    decode(first, std::min(kChunk, count() - first), values);
    if (!std::all_of(values.begin(), values.end(), [](double value) { return value == 0; })) return false;
  }
  return true;
}

RawTensor RawTensor::slice(std::size_t first, std::size_t count) const {
  RawTensor part(dtype_, read(first, count));
  part.readable_ = readable_;
  return part;
}

void RawTensor::hold() {
  if (!cursor_) return;
  held_ = read(0, count());
  cursor_.reset();
}

void RawTensor::store(std::size_t place, double value) {
  const auto put = [&](const auto number) {
    std::memcpy(held_.data() + place * sizeof(number), &number, sizeof(number));
  };
  if (dtype_ == recorder::Dtype::kFloat64) {
    put(value);
  } else if (dtype_ == recorder::Dtype::kFloat32) {
    put(static_cast<float>(value));
  } else if (dtype_ == recorder::Dtype::kBfloat16) {
    const auto rounded = static_cast<float>(rounded_to(dtype_, value));
    put(static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(rounded) >> 16));
  } else if (dtype_ == recorder::Dtype::kFloat16) {
    put(float16_bits(value));
  }
}

bool operator==(const RawTensor& a, const RawTensor& b) {
  if (a.dtype_ != b.dtype_ || a.bytes_ != b.bytes_) return false;
  for (std::size_t first = 0; first < a.count(); first += kChunk) {
    const std::size_t here = std::min(kChunk, a.count() - first);
    if (a.read(first, here) != b.read(first, here)) return false;
  }
  return true;
}

}  // namespace plumbline::checks
