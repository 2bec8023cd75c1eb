#include "recorder/testing/trace_contents.hpp"

#include <gtest/gtest.h>
#include <zstd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>

#include "recorder/column.hpp"
#include "recorder/record_bytes.hpp"
#include "recorder/ring_file.hpp"
#include "recorder/seek_table.hpp"

namespace plumbline::recorder::testing {
namespace {

using Bytes = std::vector<std::uint8_t>;

Bytes slurp(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("cannot open " + path);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

std::vector<std::uint64_t> values(const trace::Column* column, std::size_t count) {
  std::vector<std::uint64_t> out(count);
  if (column == nullptr) throw std::runtime_error("a column is missing");
  const auto* data = column->data();
  const std::span<const std::uint8_t> bytes =
      data ? std::span(data->data(), data->size()) : std::span<const std::uint8_t>{};
  if (!decode_column({column->encoding(), column->base()}, bytes, out))
    throw std::runtime_error("a column is malformed");
  return out;
}

std::string text(const flatbuffers::String* string) { return string ? string->str() : ""; }

class Collector {
 public:
  explicit Collector(TraceContents& out) : out_(out) {}

  void message(const trace::Message& message) {
    switch (message.body_type()) {
      case trace::Body::Process: {
        const auto& p = *message.body_as_Process();
        out_.processes.push_back(
            {text(p.host()), text(p.ring_name()), text(p.level()), p.rank(), p.world_size(), p.attempt(), p.pid()});
        break;
      }
      case trace::Body::Facts:
        for (const auto* f : *message.body_as_Facts()->facts()) out_.facts.emplace(text(f->key()), text(f->value()));
        break;
      case trace::Body::Texts:
        for (const auto* t : *message.body_as_Texts()->texts())
          out_.texts[t->id()] = text(t->text()), ++out_.text_messages;
        break;
      case trace::Body::Groups:
        for (const auto* g : *message.body_as_Groups()->groups()) {
          out_.groups.push_back({g->id(),
                                 text(g->name()),
                                 text(g->description()),
                                 text(g->backend()),
                                 {g->ranks()->begin(), g->ranks()->end()},
                                 g->rank(),
                                 g->size()});
        }
        break;
      case trace::Body::Threads:
        for (const auto* t : *message.body_as_Threads()->threads()) out_.threads[t->ring()] = text(t->name());
        break;
      case trace::Body::Allocations:
        allocations(*message.body_as_Allocations());
        break;
      case trace::Body::Collectives:
        collectives(*message.body_as_Collectives());
        break;
      case trace::Body::CollectiveMarks: {
        const auto& b = *message.body_as_CollectiveMarks();
        rows(b, b.outcome(), b.id(), b.code());
        break;
      }
      case trace::Body::Ranges:
        ranges(*message.body_as_Ranges());
        break;
      case trace::Body::Steps: {
        const auto& b = *message.body_as_Steps();
        rows(b, b.raised(), b.handle(), b.name());
        break;
      }
      case trace::Body::StepGroups: {
        const auto& b = *message.body_as_StepGroups();
        plain_rows(Kind::kStepGroup, b, b.tag(), b.handle(), b.lr());
        break;
      }
      case trace::Body::Samples: {
        const auto& b = *message.body_as_Samples();
        plain_rows(Kind::kSample, b, b.counter(), b.value(), b.value());
        break;
      }
      case trace::Body::Comms: {
        const auto& b = *message.body_as_Comms();
        plain_rows(Kind::kComm, b, b.event(), b.comm(), b.group());
        break;
      }
      case trace::Body::Progress:
        for (const auto* r : *message.body_as_Progress()->rings()) out_.heads[r->ring()] = r->head();
        out_.dropped.assign(message.body_as_Progress()->dropped()->begin(),
                            message.body_as_Progress()->dropped()->end());
        break;
      case trace::Body::Hooks:
        for (const auto* h : *message.body_as_Hooks()->hooks()) out_.hooks[text(h->name())] = h->fired();
        break;
      case trace::Body::Evicted: {
        const auto& e = *message.body_as_Evicted();
        out_.evicted.push_back(
            {e.first_ns(), e.last_ns(), e.frames(), e.compressed_bytes(), {e.events()->begin(), e.events()->end()}});
        break;
      }
      case trace::Body::Exit: {
        const auto& e = *message.body_as_Exit();
        out_.has_exit = true;
        out_.exit_status = e.status();
        out_.exit_signal = e.signal();
        out_.exception_class = text(e.exception_class());
        out_.exception_message = text(e.exception_message());
        break;
      }
      case trace::Body::Stacks:
        for (const auto* s : *message.body_as_Stacks()->stacks()) stack(*s);
        break;
      case trace::Body::Modules:
        for (const auto* m : *message.body_as_Modules()->modules())
          out_.modules.push_back({m->begin(), m->end(), m->file_offset(), text(m->path()), text(m->build_id())});
        break;
      case trace::Body::DeviceWorks: {
        const auto& b = *message.body_as_DeviceWorks();
        plain_rows(Kind::kDeviceWork, b, b.tag(), b.parent(), b.duration_ns());
        break;
      }
      case trace::Body::Captures:  // in files of their own
      case trace::Body::NONE:
        throw std::runtime_error("a message without a body");
    }
  }

 private:
  void stack(const trace::Stack& s) {
    StackRow row{text(s.thread_name()), s.tid(), s.reason(), s.flags(), s.time_ns(), s.detail(), {}, {}};
    for (const auto* frame : *s.python()) {
      if (!out_.texts.contains(frame->file()) || !out_.texts.contains(frame->function())) out_.undefined_use = true;
      row.python.push_back(out_.texts[frame->file()] + ":" + std::to_string(frame->line()) + " " +
                           out_.texts[frame->function()]);
    }
    for (const auto* frame : *s.native()) row.native.push_back(frame->pc());
    out_.stacks.push_back(std::move(row));
  }

  template <class Batch>
  void rows(const Batch& batch, const trace::Column* tag, const trace::Column* a, const trace::Column* b) {
    const std::size_t n = batch.count();
    const auto times = values(batch.time_ns(), n), tags = values(tag, n), as = values(a, n), bs = values(b, n);
    for (std::size_t i = 0; i < n; ++i) {
      out_.events.push_back({static_cast<Kind>(batch.kind()->Get(static_cast<unsigned>(i))), batch.ring(), times[i],
                             tags[i], as[i], bs[i]});
    }
  }

  template <class Batch>
  void plain_rows(Kind kind, const Batch& batch, const trace::Column* tag, const trace::Column* a,
                  const trace::Column* b) {
    const std::size_t n = batch.count();
    const auto times = values(batch.time_ns(), n), tags = values(tag, n), as = values(a, n), bs = values(b, n);
    for (std::size_t i = 0; i < n; ++i) out_.events.push_back({kind, batch.ring(), times[i], tags[i], as[i], bs[i]});
  }

  void allocations(const trace::Allocations& batch) {
    const std::size_t n = batch.count();
    const auto times = values(batch.time_ns(), n), tags = values(batch.tag(), n),
               addresses = values(batch.address(), n);
    const auto& kinds = *batch.kind();
    const auto sized =
        static_cast<std::size_t>(n - static_cast<std::size_t>(std::count(kinds.begin(), kinds.end(), 3)));
    const auto sizes = values(batch.size(), sized);
    std::size_t next = 0;
    for (std::size_t i = 0; i < n; ++i) {
      const auto kind = static_cast<Kind>(kinds.Get(static_cast<unsigned>(i)));
      out_.events.push_back(
          {kind, batch.ring(), times[i], tags[i], addresses[i], kind == Kind::kFree ? 0 : sizes[next++]});
    }
  }

  void collectives(const trace::Collectives& batch) {
    plain_rows(Kind::kCollective, batch, batch.tag(), batch.id(), batch.seq());
    for (const std::uint64_t group : values(batch.group(), batch.count())) {
      const bool known =
          std::any_of(out_.groups.begin(), out_.groups.end(), [&](const GroupRow& g) { return g.id == group; });
      if (group != 0 && !known) out_.undefined_use = true;
    }
  }

  void ranges(const trace::Ranges& batch) {
    rows(batch, batch.scope(), batch.name(), batch.handle());
    for (const std::uint64_t name : values(batch.name(), batch.count())) {
      if (!out_.texts.contains(name)) out_.undefined_use = true;
    }
  }

  TraceContents& out_;
};

void read_frame(const Bytes& frame, TraceContents& out) {
  std::size_t at = 0;
  while (at < frame.size()) {
    if (at % 8 != 0) throw std::runtime_error("a message is not aligned");
    std::uint32_t length = 0;
    if (at + 4 > frame.size()) throw std::runtime_error("a message is cut");
    std::memcpy(&length, &frame[at], 4);
    if (length > frame.size() - at - 4) throw std::runtime_error("a message is cut");
    flatbuffers::Verifier verifier(&frame[at], length + 4);
    if (!trace::VerifySizePrefixedMessageBuffer(verifier)) throw std::runtime_error("a message is malformed");
    Collector(out).message(*trace::GetSizePrefixedMessage(&frame[at]));
    at += length + 4;
  }
}

void check_seek_table(const Bytes& file, std::size_t at, std::size_t frames) {
  std::uint32_t count = 0;
  std::memcpy(&count, &file[file.size() - kSeekTableFooterBytes], 4);
  EXPECT_EQ(count, frames);
  std::uint64_t total = 0;
  for (std::size_t i = 0; i < count; ++i) {
    std::uint32_t compressed = 0;
    std::memcpy(&compressed, &file[at + 8 + i * kSeekTableEntryBytes], 4);
    total += compressed;
  }
  EXPECT_EQ(total, at);
}

}  // namespace

TraceContents read_messages(const std::vector<std::uint8_t>& messages) {
  TraceContents out;
  read_frame(messages, out);
  return out;
}

TraceContents read_trace(const std::string& path) {
  const Bytes file = slurp(path);
  TraceContents out;
  std::size_t at = 0;
  while (at < file.size()) {
    const std::size_t size = ZSTD_findFrameCompressedSize(&file[at], file.size() - at);
    if (ZSTD_isError(size)) {
      out.torn = true;
      break;
    }
    std::uint32_t magic = 0;
    std::memcpy(&magic, &file[at], 4);
    if (magic == kSkippableMagic) {
      out.has_seek_table = true;
      EXPECT_EQ(at + size, file.size());
      check_seek_table(file, at, out.frames);
    } else {
      Bytes frame(ZSTD_getFrameContentSize(&file[at], size));
      if (ZSTD_decompress(frame.data(), frame.size(), &file[at], size) != frame.size())
        throw std::runtime_error("a frame is damaged");
      read_frame(frame, out);
      ++out.frames;
    }
    at += size;
  }
  return out;
}

std::vector<Event> read_ring(const std::string& path, TraceContents& trace) {
  const Bytes file = slurp(path);
  const auto& header = *reinterpret_cast<const RingFileHeader*>(file.data());
  if (header.magic != kRingMagic) throw std::runtime_error("not a ring file");
  const auto* rings = reinterpret_cast<const RingHeader*>(file.data() + kRingFileHeaderBytes);
  std::vector<Event> events;
  for (std::uint32_t i = 0; i < header.ring_count; ++i) {
    const RingHeader& ring = rings[i];
    std::uint64_t at = ring.tail.load();
    if (trace.heads.contains(i)) at = std::max(at, trace.heads[i]);
    while (at < ring.head.load()) {
      const std::uint64_t index = slot_index(at, ring.chunk, ring.places[at / ring.chunk % kMostChunks].load());
      const auto* record = reinterpret_cast<const RecordHeader*>(&file[ring.data_offset + index * kSlotBytes]);
      if (record->slots == 0) throw std::runtime_error("a slot was never written");
      at += record->slots;
      if (record->kind == Kind::kSkip) continue;
      std::uint64_t words[2];
      std::memcpy(words, record + 1, sizeof(words));
      if (record->kind == Kind::kText) {
        trace.texts[words[0]] = std::string(reinterpret_cast<const char*>(record) + sizeof(TextRecord), record->tag);
      } else if (record->kind == Kind::kFact) {
        const std::string fact(reinterpret_cast<const char*>(record) + sizeof(FactRecord), record->tag);
        trace.facts.emplace(fact.substr(0, fact.find('=')), fact.substr(fact.find('=') + 1));
      } else if (!is_definition(record->kind)) {
        events.push_back({record->kind, i, record->time_ns, record->tag, words[0], words[1]});
      }
    }
  }
  return events;
}

std::vector<Event> all_events(const std::string& trace_path, const std::string& ring_path) {
  TraceContents contents = read_trace(trace_path);
  const std::vector<Event> rest = read_ring(ring_path, contents);
  contents.events.insert(contents.events.end(), rest.begin(), rest.end());
  return contents.events;
}

std::vector<std::string> files_in(const std::string& directory) {
  std::vector<std::string> names;
  if (!std::filesystem::exists(directory)) return names;
  for (const auto& entry : std::filesystem::directory_iterator(directory)) names.push_back(entry.path().filename());
  std::sort(names.begin(), names.end());
  return names;
}

std::string only_file(const std::string& directory, const std::string& ending) {
  std::vector<std::string> found;
  for (const std::string& name : files_in(directory)) {
    if (name.ends_with(ending)) found.push_back(directory + "/" + name);
  }
  if (found.size() != 1) throw std::runtime_error("not exactly one " + ending + " in " + directory);
  return found.front();
}

}  // namespace plumbline::recorder::testing
