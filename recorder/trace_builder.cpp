#include "recorder/trace_builder.hpp"

#include <algorithm>
#include <cstring>

#include "recorder/progress.hpp"
#include "recorder/text_hash.hpp"

namespace plumbline::recorder {
namespace {

constexpr std::size_t kWordsPerSlot = kSlotBytes / sizeof(std::uint64_t);

Identity identity_of(const TraceBuilderOptions& options) {
  return {options.host,       options.boot_id,    options.pid,    options.rank,
          options.local_rank, options.world_size, options.attempt};
}

// A record with text behind it, in words so that it is aligned.
template <class Record>
std::vector<std::uint64_t> with_text(Record record, std::string_view text) {
  std::vector<std::uint64_t> words((sizeof(Record) + text.size() + sizeof(std::uint64_t) - 1) / sizeof(std::uint64_t));
  record.header.slots = slots_of<Record>(text.size());
  record.header.tag = static_cast<std::uint32_t>(text.size());
  std::memcpy(words.data(), &record, sizeof(record));
  std::memcpy(reinterpret_cast<char*>(words.data()) + sizeof(record), text.data(), text.size());
  return words;
}

const RecordHeader& header_of(const std::uint64_t* words) { return *reinterpret_cast<const RecordHeader*>(words); }

}  // namespace

TraceBuilder::TraceBuilder(const std::string& directory, const TraceBuilderOptions& options) : options_(options) {
  const Identity identity = identity_of(options_);
  note(files_.create(directory, identity));
  if (!error_.empty()) return;
  if (!files_.promote(identity)) note("cannot name the trace in " + directory);
  files_.remove_ring();
  trace_.emplace(files_, options_.max_trace_bytes);
  definitions_.add_process(identity, {options_.start_monotonic_ns, options_.start_realtime_ns}, files_.ring_name(),
                           Level::kWatch);
}

TraceBuilder::~TraceBuilder() {
  flush();
  files_.close();
}

std::uint64_t TraceBuilder::text(std::string_view text) { return definitions_.add_text(text); }

std::uint64_t TraceBuilder::group(std::string_view name, std::string_view description, std::string_view backend,
                                  std::string_view ranks, std::int32_t rank, std::int32_t size, std::uint64_t pointer) {
  const std::uint64_t id = group_hash(name, ranks);
  std::string text;
  for (const std::string_view part : {name, description, backend}) text.append(part).push_back('\0');
  text.append(ranks);
  const auto words =
      with_text(GroupRecord{{options_.start_monotonic_ns, Kind::kGroup, 0, 0, 0}, id, pointer, rank, size}, text);
  definitions_.add(header_of(words.data()));
  return id;
}

void TraceBuilder::fact(std::string_view key, std::string_view value) { definitions_.add_fact(key, value); }

void TraceBuilder::thread(std::uint32_t ring, std::uint32_t tid, std::string_view name) {
  definitions_.add_thread(ring, 1, tid, name);
}

void TraceBuilder::hooks(std::uint64_t time_ns, const std::vector<HookCountRow>& rows) {
  definitions_.add_hooks(time_ns, rows);
}

void TraceBuilder::stack(const StackDetails& stack) { definitions_.add_stack(stack); }

void TraceBuilder::module(const ModuleDetails& module) { definitions_.add_module(module); }

void TraceBuilder::drop(Kind kind, std::uint64_t events) { dropped_[static_cast<std::size_t>(kind)] += events; }

void TraceBuilder::add_record(std::uint32_t ring, const RecordHeader& record) {
  Waiting& waiting = rings_[ring];
  const std::size_t at = waiting.slots.size();
  waiting.slots.resize(at + record.slots * kWordsPerSlot);
  std::memcpy(waiting.slots.data() + at, &record, record_bytes(record));
  waiting.head += record.slots;
  last_ns_ = std::max(last_ns_, record.time_ns);
  if (++waiting_records_ >= options_.frame_records) flush();
}

void TraceBuilder::flush() {
  if (!error_.empty()) return;
  if (!definitions_.empty()) {
    buffer_.clear();
    definitions_.append_to(buffer_);
    note(trace_->append(FrameKind::kDefinitions, buffer_, {}));
  }
  for (auto& [ring, waiting] : rings_) {
    batches_.begin_ring(ring);
    for (std::size_t at = 0; at < waiting.slots.size(); at += header_of(&waiting.slots[at]).slots * kWordsPerSlot) {
      batches_.add(header_of(&waiting.slots[at]));
    }
    waiting.slots.clear();
  }
  waiting_records_ = 0;
  if (batches_.empty() || !error_.empty()) return;
  buffer_.clear();
  const FrameSummary summary = batches_.append_to(buffer_);
  append_progress();
  note(trace_->append(FrameKind::kEvents, buffer_, summary));
}

void TraceBuilder::finish(const ExitDetails& details, std::uint64_t time_ns) {
  flush();
  if (!error_.empty()) return;
  definitions_.add_end(time_ns == 0 ? last_ns_ : time_ns, details);
  flush();
  if (error_.empty()) note(trace_->finish());
}

void TraceBuilder::note(const std::optional<std::string>& error) {
  if (error && error_.empty()) error_ = *error;
}

void TraceBuilder::append_progress() {
  std::vector<RingProgress> rings;
  for (const auto& [ring, waiting] : rings_) rings.push_back({ring, 1, waiting.head});
  append_progress_message(builder_, last_ns_, rings, dropped_, buffer_);
}

}  // namespace plumbline::recorder
