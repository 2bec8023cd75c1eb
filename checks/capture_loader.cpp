#include "checks/capture_loader.hpp"

#include <cmath>
#include <utility>

namespace plumbline::checks {

using reader::Capture;

RawTensor CaptureLoader::load(const Capture* capture) {
  if (capture == nullptr || capture->parts.empty()) return {};
  const std::lock_guard lock(files_[capture->file]);
  std::vector<std::uint8_t> bytes;
  captures_.load(*capture, bytes);
  return {capture->dtype, std::move(bytes)};
}

RawTensor CaptureLoader::stream(const Capture* capture) {
  if (capture == nullptr || capture->parts.size() < 2) return load(capture);
  std::uint64_t bytes = 0;
  for (const Capture::Part& part : capture->parts) bytes += part.bytes;
  return {capture->dtype, bytes, captures_.cursor(*capture)};
}

double CaptureLoader::number(const Capture* capture) {
  if (capture == nullptr || capture->elements() != 1) return std::nan("");
  const std::vector<double> one = values(capture);
  return one.size() == 1 ? one.front() : std::nan("");
}

std::vector<double> CaptureLoader::values(const Capture* capture) {
  const RawTensor tensor = load(capture);
  std::vector<double> numbers;
  if (tensor.there()) tensor.decode(0, tensor.count(), numbers);
  return numbers;
}

}  // namespace plumbline::checks
