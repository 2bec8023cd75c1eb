// What a ring file held at one moment: the part of a killed (or living) process's events that its writer had not
// written to the trace yet.
//
// The process may still run while the file is read: slots are copied, and what may have been written over during the
// copy is left out; the writer has put those into the trace by then. So the ring must be taken before the trace is.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "reader/batch.hpp"
#include "reader/definitions.hpp"
#include "reader/file.hpp"
#include "reader/status.hpp"
#include "recorder/ring_file.hpp"

namespace plumbline::reader {

// Up to which slot of a ring the trace has the events.
struct RingProgress {
  std::uint64_t generation = 0;
  std::uint64_t head = 0;
};

// Whose ring it is, as its header says.
struct RingOwner {
  std::uint32_t pid = 0;
  int rank = -1;
  int attempt = 0;
  std::uint64_t start_monotonic_ns = 0;
  std::uint64_t start_realtime_ns = 0;
  std::string boot_id;
  std::string trace_name;  // file name of the trace beside it
};

class RingSnapshot {
 public:
  static Result<RingSnapshot> open(const std::string& path);
  static bool has_magic(const File& file);
  static Result<RingOwner> owner_of(const File& file);

  const std::string& path() const { return file_.path(); }
  const RingOwner& owner() const { return owner_; }
  bool clean_end() const { return clean_end_; }
  const std::optional<RecordingStop>& stop() const { return stop_; }
  // Of a process that did not wait longer for its writer, which therefore could not write it into the trace.
  const std::optional<ExitInfo>& exit() const { return exit_; }
  const std::array<std::uint64_t, recorder::kKindCount>& dropped() const { return dropped_; }
  const std::array<std::uint64_t, 64>& hook_fired() const { return hook_fired_; }  // by hook number, all threads
  const std::vector<InFlightCall>& in_flight() const { return in_flight_; }
  std::uint64_t damaged_rings() const { return damaged_rings_; }  // headers or slots that make no sense

  struct Ring {
    std::uint32_t number = 0;
    std::uint32_t tid = 0;
    std::uint64_t generation = 0;
    std::string thread_name;
    std::uint64_t data_offset = 0;
    std::uint64_t capacity = 0;
    std::uint64_t chunk = 0;
    std::uint64_t first = 0;  // slot number of the first one in `slots`; a record begins there
    std::uint64_t head = 0;
    std::vector<std::byte> slots;  // from `first` to `head`, in order
  };
  const std::vector<Ring>& rings() const { return rings_; }

  // Reaches back for slots that were already given back (by their number) but that the trace lacks, because damage took
  // their frame, and that nobody has written over yet.
  void recover(const std::map<std::uint32_t, RingProgress>& progress);

 private:
  explicit RingSnapshot(File file) : file_(std::move(file)) {}
  Status read();
  bool read_ring(std::uint32_t number);
  void read_in_flight(const Ring& ring, const unsigned char* header);
  using Places = std::array<std::uint8_t, recorder::kMostChunks>;
  Places places_of(const Ring& ring) const;
  bool copy_slots(const Ring& ring, const Places& places, std::uint64_t from, std::uint64_t to,
                  std::vector<std::byte>& slots) const;
  bool are_intact(const Ring& ring, std::uint64_t from) const;
  std::uint64_t load64(std::uint64_t offset) const;

  File file_;
  RingOwner owner_;
  bool clean_end_ = false;
  std::optional<RecordingStop> stop_;
  std::optional<ExitInfo> exit_;
  std::array<std::uint64_t, recorder::kKindCount> dropped_{};
  std::array<std::uint64_t, 64> hook_fired_{};
  std::vector<InFlightCall> in_flight_;
  std::vector<Ring> rings_;
  std::uint64_t damaged_rings_ = 0;
  std::uint64_t copied_bytes_ = 0;
};

}  // namespace plumbline::reader
