#include "shim/cupti/device_work.hpp"

#include "recorder/recorder.hpp"

namespace plumbline::shim::cupti {

using recorder::DeviceWork;
using recorder::DeviceWorkRecord;

DeviceWorkRecord DeviceWorks::event(DeviceWork work, std::uint64_t start, std::uint64_t end, std::uint32_t device,
                                    std::uint32_t stream, std::uint32_t correlation) noexcept {
  DeviceWorkRecord out{};
  out.header = {start, recorder::Kind::kDeviceWork, recorder::slots_of<DeviceWorkRecord>(), 0,
                static_cast<std::uint32_t>(work) | (device & 0xff) << 8};
  out.duration_ns = end > start ? end - start : 0;
  out.stream = stream;
  out.correlation = correlation;
  const Parent& parent = parents_[correlation % kParents];
  if (parent.correlation == correlation) out.parent = parent.id;
  return out;
}

std::optional<DeviceWorkRecord> DeviceWorks::take(const Record& record) noexcept {
  switch (record.kind) {
    case kExternalCorrelation: {
      const auto& r = reinterpret_cast<const CorrelationRecord&>(record);
      if (r.external_kind == kCustomCorrelation) parents_[r.correlation % kParents] = {r.correlation, r.external};
      return std::nullopt;
    }
    case kConcurrentKernel: {
      const auto& r = reinterpret_cast<const KernelRecord&>(record);
      DeviceWorkRecord out = event(DeviceWork::kKernel, r.start, r.end, r.device, r.stream, r.correlation);
      out.name = recorder::text_id(r.name != nullptr ? r.name : "kernel");
      return out;
    }
    case kMemcpy:
    case kMemcpyPeer: {
      const auto& r = reinterpret_cast<const CopyRecord&>(record);
      const std::uint32_t correlation = record.kind == kMemcpy ? r.correlation_or_source : r.peer_correlation;
      DeviceWorkRecord out = event(DeviceWork::kCopy, r.start, r.end, r.device, r.stream, correlation);
      out.header.tag |= std::uint32_t{r.copy_kind} << 16;
      out.bytes = r.bytes;
      out.name = recorder::text_id("copy");
      return out;
    }
    case kMemset: {
      const auto& r = reinterpret_cast<const MemsetRecord&>(record);
      DeviceWorkRecord out = event(DeviceWork::kMemset, r.start, r.end, r.device, r.stream, r.correlation);
      out.bytes = r.bytes;
      out.name = recorder::text_id("memset");
      return out;
    }
    default:
      return std::nullopt;
  }
}

}  // namespace plumbline::shim::cupti
