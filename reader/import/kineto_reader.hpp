// Streams the events of a Kineto Chrome trace that an import is about: ranges, collectives, NCCL's kernels, memory. All
// others, nine in ten of a large trace, are passed over without being looked at.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "reader/import/byte_source.hpp"
#include "reader/import/json_reader.hpp"

namespace plumbline::reader::imports {

struct KinetoEvent {
  enum class Kind : std::uint8_t {
    kAnnotation,  // a named range: the user's, the optimizer's, a backend's
    kCollective,  // record_param_comms: a collective is enqueued
    kKernel,      // one of NCCL's
    kMemory,      // "[memory]"
    kName,        // of a process or thread
  };
  Kind kind = Kind::kAnnotation;
  std::string name;
  std::int64_t pid = 0;
  std::int64_t tid = 0;
  std::uint64_t time_ns = 0;  // since the trace's base time
  std::uint64_t duration_ns = 0;
  std::string args;  // the JSON object, as it stands; may be empty
};

struct KinetoGroup {
  std::string name;
  std::string description;
  std::vector<int> ranks;
};

// What stands beside the events.
struct KinetoHeader {
  std::uint64_t base_ns = 0;  // 0: times are since the epoch
  int rank = -1;
  int world_size = -1;
  std::string backend;
  std::string nccl_version;
  std::vector<KinetoGroup> groups;
};

class KinetoReader {
 public:
  explicit KinetoReader(ByteSource& source) : source_(source), json_(source) {}

  using Visit = std::function<void(const KinetoEvent&)>;
  // All of the file. Of one that is damaged or cut off, what comes before that; the status says where.
  Status read(const Visit& visit);
  // Complete only after read(): some writers put it behind the events.
  const KinetoHeader& header() const { return header_; }
  std::uint64_t events() const { return events_; }  // of every kind

 private:
  void read_event(const Visit& visit);
  void read_distributed_info();
  void read_groups();

  ByteSource& source_;
  JsonReader json_;
  KinetoHeader header_;
  KinetoEvent event_;
  std::uint64_t events_ = 0;
};

// The rank that the beginning of a Kineto trace tells; -1: it does not.
int kineto_rank(std::string_view beginning);

// "5113407080482.149" microseconds → nanoseconds, exactly.
std::uint64_t nanoseconds_of(std::string_view microseconds);

}  // namespace plumbline::reader::imports
