// A ring file in memory, to be filled and damaged at will, for the reader's tests.
#pragma once

#include <cstring>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "reader/testing/records.hpp"
#include "recorder/ring.hpp"

namespace plumbline::reader::testing {

class RingFile {
 public:
  // One chunk a ring, or chunks of so many slots.
  RingFile(std::uint32_t rings, std::uint64_t capacity, std::uint64_t chunk = 0)
      : rings_(rings), capacity_(capacity), chunk_(chunk != 0 ? chunk : capacity) {
    bytes_.resize(recorder::kRingFileHeaderBytes + rings * recorder::kRingHeaderBytes +
                  rings * (sizeof(recorder::HookCounters) + capacity * recorder::kSlotBytes));
    recorder::RingFileHeader& file = file_header();
    file.magic = recorder::kRingMagic;
    file.version = recorder::kRingVersion;
    file.ring_count = rings;
    file.pid = 4242;
    file.rank = 3;
    std::strcpy(file.boot_id, "boot");
    std::strcpy(file.trace_name, "a.plt");
  }

  recorder::RingFileHeader& file_header() { return at<recorder::RingFileHeader>(0); }
  recorder::RingHeader& header(std::uint32_t ring) {
    return at<recorder::RingHeader>(recorder::kRingFileHeaderBytes + ring * recorder::kRingHeaderBytes);
  }
  recorder::HookCounters& counters(std::uint32_t ring) {
    return at<recorder::HookCounters>(data_offset(ring) - sizeof(recorder::HookCounters));
  }
  std::byte* slot(std::uint32_t ring, std::uint64_t index) {
    return reinterpret_cast<std::byte*>(bytes_.data()) + data_offset(ring) +
           (index & (capacity_ - 1)) * recorder::kSlotBytes;
  }

  template <class Record>
  void push(std::uint32_t ring, const Record& record) {
    push_record(ring, record.header);
  }
  template <class Record>
  void push_text(std::uint32_t ring, Record record, std::string_view text) {
    record.header.slots = recorder::slots_of<Record>(text.size());
    record.header.tag = static_cast<std::uint32_t>(text.size());
    std::vector<std::byte> bytes(sizeof record + text.size());
    std::memcpy(bytes.data(), &record, sizeof record);
    std::memcpy(bytes.data() + sizeof record, text.data(), text.size());
    push_record(ring, reinterpret_cast<const recorder::RecordHeader&>(*bytes.data()));
  }

  void save(const std::string& path) const { write_file(path, std::span<const std::uint8_t>(bytes_)); }

 private:
  template <class T>
  T& at(std::size_t offset) {
    return *reinterpret_cast<T*>(bytes_.data() + offset);
  }
  std::uint64_t data_offset(std::uint32_t ring) const {
    const std::uint64_t region = sizeof(recorder::HookCounters) + capacity_ * recorder::kSlotBytes;
    return recorder::kRingFileHeaderBytes + rings_ * recorder::kRingHeaderBytes + ring * region +
           sizeof(recorder::HookCounters);
  }
  void push_record(std::uint32_t ring, const recorder::RecordHeader& record) {
    recorder::RingHeader& h = header(ring);
    if (h.generation == 0) {
      h.generation = 1;
      h.capacity = capacity_;
      h.chunk = chunk_;
      h.data_offset = data_offset(ring);
      h.slots_distance = static_cast<std::uint64_t>(slot(ring, 0) - reinterpret_cast<std::byte*>(&h));
      h.tid = 100 + ring;
    }
    if (!recorder::write_record(h, record)) throw std::runtime_error("the ring is full");
  }

  std::uint32_t rings_;
  std::uint64_t capacity_;
  std::uint64_t chunk_;
  std::vector<std::uint8_t> bytes_;
};

}  // namespace plumbline::reader::testing
