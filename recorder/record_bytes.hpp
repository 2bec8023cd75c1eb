// How many bytes of a record carry something. Its slots are rounded up, and the caller's struct ends before that.
#pragma once

#include <cstddef>

#include "recorder/event.hpp"

namespace plumbline::recorder {

// 0 for kinds that are not records (kNone, kSkip) or not known.
constexpr std::size_t struct_bytes(Kind kind) noexcept {
  switch (kind) {
    case Kind::kNone:
    case Kind::kSkip:
      return 0;
    case Kind::kAlloc:
    case Kind::kFree:
    case Kind::kAllocFailed:
      return sizeof(AllocRecord);
    case Kind::kCollective:
      return sizeof(CollectiveRecord);
    case Kind::kCollectiveStart:
    case Kind::kCollectiveEnd:
    case Kind::kCollectiveReturn:
    case Kind::kWait:
    case Kind::kWaitEnd:
      return sizeof(CollectiveMarkRecord);
    case Kind::kRangeBegin:
    case Kind::kRangeEnd:
      return sizeof(RangeRecord);
    case Kind::kStepBegin:
    case Kind::kStepEnd:
      return sizeof(StepRecord);
    case Kind::kStepGroup:
      return sizeof(StepGroupRecord);
    case Kind::kGroup:
      return sizeof(GroupRecord);
    case Kind::kText:
      return sizeof(TextRecord);
    case Kind::kFact:
      return sizeof(FactRecord);
    case Kind::kSample:
      return sizeof(SampleRecord);
    case Kind::kComm:
      return sizeof(CommRecord);
    case Kind::kDeviceWork:
      return sizeof(DeviceWorkRecord);
  }
  return 0;
}

constexpr bool has_text(Kind kind) noexcept {
  return kind == Kind::kGroup || kind == Kind::kText || kind == Kind::kFact;
}

// Definitions go into frames of their own, which the size cap never evicts.
constexpr bool is_definition(Kind kind) noexcept { return has_text(kind); }

constexpr std::size_t record_bytes(const RecordHeader& record) noexcept {
  return struct_bytes(record.kind) + (has_text(record.kind) ? record.tag : 0);
}

// Slots and contents agree: what the writer and the reader require before they look inside a record.
constexpr bool well_formed(const RecordHeader& record) noexcept {
  const std::size_t bytes = record_bytes(record);
  return bytes != 0 && bytes <= record.slots * kSlotBytes;
}

}  // namespace plumbline::recorder
