#include "reader/trace.hpp"

#include <algorithm>

#include "reader/steps.hpp"
#include "reader/trace_impl.hpp"

namespace plumbline::reader {
namespace {

// How much of a file is read at its opening in search of the process and its world group.
constexpr std::size_t kHeadFrames = 16;
constexpr std::uint64_t kHeadBytes = std::uint64_t{1} << 20;

ProcessInfo process_of(const RingOwner& owner) {
  ProcessInfo info;
  info.boot_id = owner.boot_id;
  info.pid = owner.pid;
  info.rank = owner.rank;
  info.attempt = owner.attempt;
  info.start_monotonic_ns = owner.start_monotonic_ns;
  info.start_realtime_ns = owner.start_realtime_ns;
  return info;
}

void read_head(TraceImpl& trace) {
  Reading reading;
  const Query nothing{.kinds = 0};
  const auto enough = [&] {
    if (trace.messages.good == 0 && trace.frames == 0) return false;
    return (trace.definitions.has_process && trace.definitions.world_group() != nullptr) ||
           trace.frames >= kHeadFrames || trace.position.offset >= kHeadBytes;
  };
  while (!enough() && trace.scan_frame(reading, nothing)) {
  }
}

Status nothing_in(const TraceImpl& trace) {
  if (trace.file->file().size() == 0) return {Code::kEmpty, trace.path + " is empty."};
  if (trace.frames == 0) return {Code::kDamaged, trace.path + " holds no whole frame of a trace."};
  return {Code::kForeign, trace.path + " is a zstd file, but not a Plumbline trace."};
}

}  // namespace

Trace::Trace(std::unique_ptr<TraceImpl> impl) : impl_(std::move(impl)) {}
Trace::Trace(Trace&&) noexcept = default;
Trace& Trace::operator=(Trace&&) noexcept = default;
Trace::~Trace() = default;

Result<Trace> Trace::open(const std::string& trace_path, const std::string& ring_path) {
  auto impl = std::make_unique<TraceImpl>();
  impl->path = trace_path.empty() ? ring_path : trace_path;
  impl->ring_path = ring_path;
  // The ring first: what its writer gives back while we look is in the trace by the time that we open it.
  if (!ring_path.empty()) {
    Result<RingSnapshot> ring = RingSnapshot::open(ring_path);
    if (ring.ok())
      impl->ring.emplace(std::move(*ring));
    else
      impl->ring_status = ring.status();
  }
  if (!trace_path.empty()) {
    Result<File> file = File::open(trace_path);
    if (!file.ok()) return file.status();
    impl->file.emplace(std::move(*file));
    read_head(*impl);
  }
  const bool something = impl->file && impl->messages.good != 0;
  if (!something && !impl->ring) return impl->file ? nothing_in(*impl) : impl->ring_status;
  if (!impl->definitions.has_process && impl->ring) impl->definitions.process = process_of(impl->ring->owner());
  return Trace(std::move(impl));
}

const std::string& Trace::path() const { return impl_->path; }
const std::string& Trace::ring_path() const { return impl_->ring_path; }
const ProcessInfo& Trace::process() const { return impl_->definitions.process; }
int Trace::launch() const { return impl_->launch; }

const std::string& Trace::continued_in() const { return impl_->continued_in; }

std::string_view Trace::early_fact(std::string_view key) const { return impl_->definitions.fact(key); }

int Trace::world_size() const {
  const Group* world = impl_->definitions.world_group();
  return std::max({0, process().world_size, world != nullptr ? world->size : 0});
}

int Trace::rank() const {
  const Group* world = impl_->definitions.world_group();
  return world != nullptr && world->rank >= 0 ? world->rank : process().rank;
}

bool Trace::rank_confirmed() const {
  const Group* world = impl_->definitions.world_group();
  return world != nullptr && world->rank >= 0;
}

const Definitions& Trace::definitions() const {
  impl_->scan();
  return impl_->definitions;
}

const ExitInfo* Trace::exit() const {
  impl_->scan();
  return impl_->definitions.exit ? &*impl_->definitions.exit : nullptr;
}

bool Trace::clean_end() const {
  impl_->scan();
  return impl_->clean_end();
}

const RecordingStop* Trace::stop() const {
  return impl_->ring && impl_->ring->stop() ? &*impl_->ring->stop() : nullptr;
}

RingJoin Trace::ring_join() const {
  impl_->scan();
  return impl_->ring_join;
}

const std::vector<InFlightCall>& Trace::in_flight() const {
  impl_->scan();
  return impl_->in_flight;
}

const std::vector<EvictedRange>& Trace::evicted() const {
  impl_->scan();
  return impl_->evicted;
}

const std::vector<Damage>& Trace::damage() const {
  impl_->scan();
  return impl_->damage;
}

const std::vector<std::uint64_t>& Trace::dropped() const {
  impl_->scan();
  return impl_->dropped;
}

std::uint64_t Trace::first_ns() const {
  impl_->scan();
  return impl_->span.empty() ? 0 : impl_->span.first_ns;
}

std::uint64_t Trace::last_ns() const {
  impl_->scan();
  return impl_->span.last_ns;
}

const Stats& Trace::stats() const {
  impl_->scan();
  return impl_->stats;
}

const StepTimeline& Trace::steps() const {
  if (!impl_->steps) impl_->steps = infer_steps(*this);
  return *impl_->steps;
}

void Trace::keep_steps(StepTimeline timeline) const {
  if (!impl_->steps) impl_->steps = std::move(timeline);
}

void Trace::read(const Query& query, const Visit& visit) const {
  FrameCursor cursor(*this, query);
  while (const FrameView* frame = cursor.next())
    if (!visit(*frame)) return;
}

struct FrameCursor::Impl {
  TraceImpl& trace;
  Query query;
  Reading reading;
  std::size_t next_indexed = 0;
  bool ring_given = false;
  BatchSet ring_batches;
  FrameView view;
};

FrameCursor::FrameCursor(const Trace& trace, const Query& query)
    : impl_(new Impl{*trace.impl_, query, {}, 0, false, {}, {}}) {}
FrameCursor::FrameCursor(FrameCursor&&) noexcept = default;
FrameCursor::~FrameCursor() = default;

const FrameView* FrameCursor::next() {
  Impl& self = *impl_;
  TraceImpl& trace = self.trace;
  const auto give = [&](const BatchSet& batches, std::uint64_t offset, bool from_ring) {
    self.view = batches.view();
    self.view.evicted = trace.evicted;
    self.view.offset = offset;
    self.view.from_ring = from_ring;
    return &self.view;
  };
  while (true) {
    if (self.next_indexed < trace.index.size()) {
      const TraceImpl::IndexEntry entry = trace.index[self.next_indexed++];
      if ((entry.kinds & self.query.kinds) == 0 || !entry.span.overlaps(self.query)) continue;
      trace.load_frame(entry, self.reading, self.query);
    } else if (!trace.scan_frame(self.reading, self.query)) {
      break;
    } else {
      self.next_indexed = trace.index.size();
    }
    const BatchSet& batches = self.reading.decoded.batches();
    if (!batches.empty()) return give(batches, trace.index[self.next_indexed - 1].offset, false);
  }
  if (self.ring_given) return nullptr;
  self.ring_given = true;
  self.ring_batches = trace.ring_events.select(self.query);
  return self.ring_batches.empty() ? nullptr : give(self.ring_batches, 0, true);
}

}  // namespace plumbline::reader
