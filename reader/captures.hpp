// Tensors that probes captured: the files captures/*.plc of a run.
//
//   Result<RunCaptures> captures = RunCaptures::open(run.path());
//   for (const Capture* grad : captures->select("grad", step, "layer.0.weight"))
//     use(grad->rank, captures->load(*grad));
//
// Opening reads the files once and keeps everything but the elements, which load() fetches again. One thread at a time
// may use a CaptureFile; different files may be used from different threads.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "reader/definitions.hpp"
#include "reader/frame_file.hpp"
#include "reader/status.hpp"
#include "recorder/capture.hpp"
#include "recorder/event.hpp"

namespace plumbline::trace {
struct Message;
}

namespace plumbline::reader {

using recorder::CaptureAmount;
using recorder::CaptureHash;
using recorder::CaptureStatistics;

struct Capture {
  std::size_t file = 0;  // index in RunCaptures::files()
  int rank = -1;         // global
  std::uint64_t time_ns = 0;
  std::string probe;
  std::string name;
  std::int64_t step = -1;
  std::uint32_t occurrence = 0;
  std::uint64_t key = 0;
  recorder::Dtype dtype = recorder::Dtype::kUnknown;
  CaptureAmount amount = CaptureAmount::kNote;
  std::vector<std::uint64_t> shape;
  std::vector<std::uint64_t> global_shape;  // as `shape` where the tensor is the whole
  std::vector<std::uint64_t> offset;        // of the block in the whole, one number a dimension
  std::vector<std::int32_t> replicas;       // global ranks that hold the same block; empty: not known
  std::string placement;
  std::string device;
  std::vector<std::uint64_t> indices;  // of a sample, rising
  std::optional<CaptureStatistics> statistics;
  CaptureHash hash_kind = CaptureHash::kNone;
  std::uint64_t hash = 0;
  std::string detail;                 // JSON object, empty: none
  std::vector<std::uint64_t> blocks;  // of a collective: kXxh3 of each block, in the order of its peers

  // Where its elements are in the file.
  struct Part {
    std::uint64_t frame_offset = 0;
    std::uint32_t message = 0;
    std::uint32_t row = 0;
    std::uint64_t first = 0;  // element
    std::uint64_t bytes = 0;
  };
  std::vector<Part> parts;

  std::uint64_t elements() const;  // of this rank's tensor
  std::uint64_t captured() const;  // elements that load() gives
  bool whole() const { return global_shape == shape; }
};

// Reads the elements of one capture part by part, with room of its own.
class CaptureCursor {
 public:
  CaptureCursor(const FrameFile& file, const Capture& capture) : file_(&file), parts_(capture.parts) {}

  // From the byte at `offset` to the end of the part that holds it; empty behind the last one, and where the file has
  // changed. The view lives until the next call.
  std::span<const std::uint8_t> from(std::uint64_t offset);

 private:
  const FrameFile* file_;
  std::vector<Capture::Part> parts_;
  std::size_t part_ = 0;          // that is held
  std::uint64_t part_begin_ = 0;  // byte
  FrameBuffer buffer_;
  Frame frame_;
};

class CaptureFile {
 public:
  // Fails when nothing of it is usable. The text names the file.
  static Result<CaptureFile> open(const std::string& path);

  const std::string& path() const { return file_.file().path(); }
  const ProcessInfo& process() const { return process_; }
  // Of a process whose rank is known better than when it began to capture.
  void set_rank(int rank);
  const std::vector<Capture>& captures() const { return captures_; }
  const std::vector<Damage>& damage() const { return damage_; }
  bool clean_end() const { return clean_end_; }

  // The captured elements, row-major (of a sample: in the order of `indices`); empty when there are none or the file
  // has changed. The view lives until the next call.
  std::span<const std::uint8_t> load(const Capture& capture);
  // The same into `bytes`, whose room is used again.
  void load(const Capture& capture, std::vector<std::uint8_t>& bytes);
  // For one thread at a time; cursors of one file may be used from several threads.
  CaptureCursor cursor(const Capture& capture) const { return CaptureCursor(file_, capture); }

 private:
  friend class RunCaptures;
  explicit CaptureFile(FrameFile file) : file_(std::move(file)) {}
  void read();
  void take(const trace::Message& message, std::uint64_t frame_offset, std::uint32_t index);

  FrameFile file_;
  FrameBuffer buffer_;
  Frame frame_;  // in the buffer; no data: none
  ProcessInfo process_;
  bool has_process_ = false;
  bool clean_end_ = false;
  std::vector<Capture> captures_;
  std::vector<Damage> damage_;
  std::vector<std::uint8_t> elements_;  // what load() shows
};

class RunCaptures {
 public:
  // `path` is a run directory, or one file of captures. A run without captures is empty, and no error.
  static Result<RunCaptures> open(const std::string& path);
  // Of these files, which may be part of a run.
  explicit RunCaptures(std::vector<CaptureFile> files = {});

  const std::vector<CaptureFile>& files() const { return files_; }
  std::vector<CaptureFile>& files() { return files_; }
  const std::vector<std::string>& complaints() const { return complaints_; }  // files that were left out, damage
  bool empty() const;

  std::vector<int> ranks() const;                                // that captured anything
  std::vector<std::int64_t> steps() const;                       // rising, without -1
  std::vector<std::string> probes() const;                       // by name
  std::vector<std::string> names(std::string_view probe) const;  // in the order of the first rank's captures

  // Captures by rank, then by time. Empty `name`: of all names; rank -1: of all ranks.
  std::vector<const Capture*> select(std::string_view probe, std::int64_t step, std::string_view name = {},
                                     int rank = -1) const;
  // The only or first one; null when there is none.
  const Capture* find(std::string_view probe, std::int64_t step, std::string_view name, int rank,
                      std::uint32_t occurrence = 0) const;

  std::span<const std::uint8_t> load(const Capture& capture) { return files_[capture.file].load(capture); }
  void load(const Capture& capture, std::vector<std::uint8_t>& bytes) { files_[capture.file].load(capture, bytes); }
  CaptureCursor cursor(const Capture& capture) const { return files_[capture.file].cursor(capture); }

 private:
  std::vector<CaptureFile> files_;
  std::vector<std::string> complaints_;
  // By probe and step, in the order of rank and time.
  std::map<std::pair<std::string, std::int64_t>, std::vector<const Capture*>, std::less<>> by_place_;
};

}  // namespace plumbline::reader
