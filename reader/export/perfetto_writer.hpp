// Writes a trace in Perfetto's protobuf format: tracks, slices, flows and counters, packet by packet, nothing kept.
//
//   PerfettoWriter writer(out);
//   auto rank = writer.process(4711, "rank 0", 0);
//   auto main = writer.thread(rank, 4711, 4711, "python");
//   writer.begin(main, t0, "forward", "range");
//   writer.end(main, t1);
//
// The caller keeps order: times of one track do not go back, and slices of one track nest. Times are nanoseconds of one
// clock for all processes. Not thread-safe.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <variant>

#include "reader/export/proto_writer.hpp"

namespace plumbline::reader {

// A named value shown with a slice.
struct Annotation {
  std::string_view name;
  std::variant<std::int64_t, double, std::string_view> value;
};

enum class CounterUnit : std::uint8_t { kCount = 2, kBytes = 3 };

class PerfettoWriter {
 public:
  using Track = std::uint64_t;

  explicit PerfettoWriter(std::ostream& out) : out_(out) {}

  // Anchors the trace's clock to the wall clock, so that the viewer can show dates. Before everything else.
  void anchor(std::uint64_t time_ns, std::uint64_t wall_ns);

  // `pid` has to be unique in the trace: two hosts may well use the same one. `order` sorts processes in the viewer.
  Track process(std::int32_t pid, std::string_view name, std::int32_t order);
  Track thread(Track process, std::int32_t pid, std::int64_t tid, std::string_view name);
  // A track of its own below a process. Siblings of one name are shown as one, with overlaps stacked.
  Track track(Track parent, std::string_view name);
  Track counter(Track parent, std::string_view name, CounterUnit unit);

  // Slices that carry the same flow are joined by arrows, in the order of their times.
  void begin(Track track, std::uint64_t time_ns, std::string_view name, std::string_view category,
             std::span<const Annotation> annotations = {}, std::uint64_t flow = 0);
  void end(Track track, std::uint64_t time_ns);
  void instant(Track track, std::uint64_t time_ns, std::string_view name, std::string_view category,
               std::span<const Annotation> annotations = {});
  void value(Track track, std::uint64_t time_ns, std::int64_t value);

 private:
  // Texts that repeat are sent once and then referred to by number.
  struct Interned {
    std::unordered_map<std::string, std::uint64_t> numbers;
    std::uint32_t field;  // of InternedData
  };

  std::uint64_t intern(Interned& texts, std::string_view text);
  void event(Track track, std::uint64_t time_ns, std::uint64_t type, std::string_view name, std::string_view category,
             std::span<const Annotation> annotations, std::uint64_t flow);
  void send_event(std::uint64_t time_ns);
  Track describe(Track parent, std::string_view name, std::uint32_t body_field, const ProtoWriter& body);
  void send();

  std::ostream& out_;
  Track last_track_ = 0;
  bool first_ = true;
  Interned names_{{}, 2};
  Interned categories_{{}, 1};
  Interned keys_{{}, 3};
  // Scratch space of the packet being built.
  ProtoWriter packet_, event_, interned_, entry_, framed_;
};

}  // namespace plumbline::reader
