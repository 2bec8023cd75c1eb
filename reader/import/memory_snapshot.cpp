#include "reader/import/memory_snapshot.hpp"

#include <algorithm>
#include <limits>
#include <unordered_map>
#include <unordered_set>

#include "reader/import/frames.hpp"

namespace plumbline::reader::imports {
namespace {

using recorder::Kind;
using recorder::Source;

// Snapshots of old versions carry no times: their events are given the order of the trace, one nanosecond apart.
constexpr std::uint64_t kSomeTime = 1'000'000'000'000;
// Stacks are for requests that failed and for the largest that were granted.
constexpr std::size_t kMostStacks = 200;

class Importer {
 public:
  Importer(const PlainData& data, int rank) : data_(data) { process_.rank = rank; }

  ImportedProcess run() {
    process_.formats = {"CUDA memory snapshot"};
    process_.lacks = {"collectives", "optimizer steps", "ranges", "exit"};
    add_settings();
    const auto traces = data_.items(data_.member(data_.root(), "device_traces"));
    for (std::size_t device = 0; device < traces.size(); ++device)
      for (const Value entry : data_.items(traces[device])) add_entry(entry, static_cast<std::int16_t>(device));
    add_unseen();
    for (const Value segment : data_.items(data_.member(data_.root(), "segments"))) add_segment(segment);
    add_stacks();
    if (!has_times_) process_.lacks.emplace_back("times");
    return std::move(process_);
  }

 private:
  struct Request {
    std::uint64_t time_ns = 0;
    std::uint64_t size = 0;
    Value frames;
    bool failed = false;
  };
  // A block or segment that the trace has not seen to be allocated.
  struct Unseen {
    std::uint64_t address = 0;
    std::uint64_t size = 0;
    Source source = Source::kCachingBlock;
    std::int16_t device = 0;
  };

  void add_settings() {
    const Value settings = data_.member(data_.root(), "allocator_settings");
    const std::string_view text = data_.text(data_.member(settings, "PYTORCH_CUDA_ALLOC_CONF"));
    if (!text.empty()) process_.facts.emplace_back("env.PYTORCH_CUDA_ALLOC_CONF", text);
    if (data_.truth(data_.member(settings, "expandable_segments")))
      process_.facts.emplace_back("allocator.expandable_segments", "true");
  }

  std::uint64_t number(Value dict, std::string_view key) const {
    return static_cast<std::uint64_t>(std::max<std::int64_t>(data_.integer_or(data_.member(dict, key), 0), 0));
  }

  std::uint64_t time_of(Value entry) {
    if (const std::uint64_t time_us = number(entry, "time_us"); time_us != 0) {
      has_times_ = true;
      now_ns_ = std::max(now_ns_ + 1, time_us * 1000);
    } else {
      now_ns_ = std::max(now_ns_ + 1, kSomeTime);
    }
    if (first_ns_ == 0) first_ns_ = now_ns_;
    return now_ns_;
  }

  static std::uint64_t key_of(std::uint64_t address, Source source) {
    return address * 2 + (source == Source::kCachingSegment ? 1 : 0);
  }

  void allocate(std::uint64_t time_ns, std::uint64_t address, std::uint64_t size, Source source, std::int16_t device) {
    live_.insert(key_of(address, source));
    process_.allocations.push_back({time_ns, Kind::kAlloc, source, device, address, size});
  }

  void release(std::uint64_t time_ns, std::uint64_t address, std::uint64_t size, Source source, std::int16_t device) {
    if (live_.erase(key_of(address, source)) == 0) unseen_.push_back({address, size, source, device});
    process_.allocations.push_back({time_ns, Kind::kFree, source, device, address, size});
  }

  void add_entry(Value entry, std::int16_t device) {
    const std::string_view action = data_.text(data_.member(entry, "action"));
    const std::uint64_t time_ns = time_of(entry);
    const std::uint64_t address = number(entry, "addr");
    const std::uint64_t size = number(entry, "size");
    if (action == "alloc") {
      allocate(time_ns, address, size, Source::kCachingBlock, device);
      requests_.push_back({time_ns, size, data_.member(entry, "frames"), false});
    } else if (action == "free_completed") {
      // The block's memory is the allocator's again only now; the request to free it may be long before.
      release(time_ns, address, size, Source::kCachingBlock, device);
    } else if (action == "segment_alloc" || action == "segment_map") {
      allocate(time_ns, address, size, Source::kCachingSegment, device);
    } else if (action == "segment_free" || action == "segment_unmap") {
      release(time_ns, address, size, Source::kCachingSegment, device);
    } else if (action == "oom") {
      process_.allocations.push_back({time_ns, Kind::kAllocFailed, Source::kCachingBlock, device, 0, size});
      requests_.push_back({time_ns, size, data_.member(entry, "frames"), true});
      process_.facts.emplace_back("memory.device_free_at_failure", std::to_string(number(entry, "device_free")));
    }
  }

  // What the trace freed without having allocated it.
  void add_unseen() {
    for (const Unseen& one : unseen_)
      process_.allocations.push_back({before(), Kind::kAlloc, one.source, one.device, one.address, one.size});
    if (!unseen_.empty()) process_.facts.emplace_back("memory.trace_start_lost", std::to_string(unseen_.size()));
  }

  std::uint64_t before() const { return first_ns_ == 0 ? kSomeTime : first_ns_ - 1; }

  // What the snapshot holds, as far as the trace has not said it already.
  void add_segment(Value segment) {
    const auto device = static_cast<std::int16_t>(data_.integer_or(data_.member(segment, "device"), 0));
    const std::uint64_t address = number(segment, "address");
    const std::uint64_t total = number(segment, "total_size");
    const bool in_parts = data_.truth(data_.member(segment, "is_expandable")) && mapped_in_parts(address, total);
    if (!live_.contains(key_of(address, Source::kCachingSegment)) && !in_parts)
      process_.allocations.push_back({before(), Kind::kAlloc, Source::kCachingSegment, device, address, total});
    std::uint64_t at = address;
    for (const Value block : data_.items(data_.member(segment, "blocks"))) {
      const std::uint64_t size = number(block, "size");
      const std::string_view state = data_.text(data_.member(block, "state"));
      // Old snapshots give no address: blocks follow each other.
      const std::uint64_t start = data_.has(block, "address") ? number(block, "address") : at;
      at = start + size;
      // Waiting to be freed counts as held; it has two spellings.
      if (!state.starts_with("active")) continue;
      if (live_.contains(key_of(start, Source::kCachingBlock))) continue;
      process_.allocations.push_back({before(), Kind::kAlloc, Source::kCachingBlock, device, start, size});
      requests_.push_back({before(), requested(block, size), frames_of_block(block), false});
    }
  }

  // An expandable segment is one in the snapshot and many in the trace.
  bool mapped_in_parts(std::uint64_t address, std::uint64_t total) const {
    return std::any_of(process_.allocations.begin(), process_.allocations.end(), [&](const ImportedAllocation& one) {
      return one.source == Source::kCachingSegment && one.kind == Kind::kAlloc && one.address >= address &&
             one.address - address < total && live_.contains(key_of(one.address, Source::kCachingSegment));
    });
  }

  std::uint64_t requested(Value block, std::uint64_t size) const {
    const std::uint64_t bytes = number(block, "requested_size");
    return bytes == 0 ? size : bytes;
  }

  Value frames_of_block(Value block) const {
    if (data_.has(block, "frames")) return data_.member(block, "frames");
    const auto history = data_.items(data_.member(block, "history"));
    return history.empty() ? Value{} : data_.member(history.front(), "frames");
  }

  void add_stacks() {
    std::stable_sort(requests_.begin(), requests_.end(), [](const Request& a, const Request& b) {
      return a.failed != b.failed ? a.failed : a.size > b.size;
    });
    std::unordered_set<std::uint64_t> taken;
    for (const Request& request : requests_) {
      if (process_.stacks.size() >= kMostStacks) break;
      // One stack of each place is enough, unless the request failed.
      const bool is_new = taken.insert(data_.identity(request.frames)).second;
      if (data_.items(request.frames).empty() || (!is_new && !request.failed)) continue;
      ImportedStack stack;
      stack.time_ns = request.time_ns;
      stack.reason =
          request.failed ? recorder::StackReason::kFailedAllocation : recorder::StackReason::kLargeAllocation;
      stack.detail = request.size;
      stack.python = frames_of(request.frames);
      process_.stacks.push_back(std::move(stack));
    }
  }

  std::vector<ImportedFrame> frames_of(Value list) const {
    std::vector<ImportedFrame> frames;
    for (const Value frame : data_.items(list))
      frames.push_back(
          profiler_frame({std::string(data_.text(data_.member(frame, "name"))),
                          std::string(data_.text(data_.member(frame, "filename"))),
                          static_cast<std::uint32_t>(data_.integer_or(data_.member(frame, "line"), 0)), 0}));
    return frames;
  }

  const PlainData& data_;
  ImportedProcess process_;
  std::vector<Request> requests_;
  std::vector<Unseen> unseen_;
  std::unordered_set<std::uint64_t> live_;  // by address and source, as of the end of the trace
  std::uint64_t now_ns_ = 0;
  std::uint64_t first_ns_ = 0;
  bool has_times_ = false;
};

}  // namespace

bool is_memory_snapshot(const PlainData& data) {
  return data.member(data.root(), "segments").is_list() || data.member(data.root(), "device_traces").is_list();
}

ImportedProcess import_memory_snapshot(const PlainData& data, int rank) { return Importer(data, rank).run(); }

}  // namespace plumbline::reader::imports
