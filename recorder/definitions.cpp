#include "recorder/definitions.hpp"

#include <charconv>

#include "recorder/record_bytes.hpp"
#include "recorder/text_hash.hpp"
#include "recorder/version.hpp"

namespace plumbline::recorder {
namespace {

std::string_view text_behind(const RecordHeader& record) {
  return {reinterpret_cast<const char*>(&record) + struct_bytes(record.kind), record.tag};
}

std::string_view take_until(std::string_view& rest, char end) {
  const std::size_t at = rest.find(end);
  const std::string_view part = rest.substr(0, at);
  rest.remove_prefix(at == std::string_view::npos ? rest.size() : at + 1);
  return part;
}

template <class Row, class Make>
auto vector_of(flatbuffers::FlatBufferBuilder& fbb, const std::vector<Row>& rows, Make&& make) {
  std::vector<decltype(make(rows[0]))> offsets;
  offsets.reserve(rows.size());
  for (const Row& row : rows) offsets.push_back(make(row));
  return fbb.CreateVector(offsets);
}

}  // namespace

void Definitions::add(const RecordHeader& record) {
  if (record.kind == Kind::kGroup) {
    add_group(reinterpret_cast<const GroupRecord&>(record));
  } else if (record.kind == Kind::kText) {
    const auto& text = reinterpret_cast<const TextRecord&>(record);
    texts_.push_back({text.id, std::string(text_behind(record))});
  } else if (record.kind == Kind::kFact) {
    std::string_view value = text_behind(record);
    const std::string_view key = take_until(value, '=');
    add_fact(key, value);
  }
}

void Definitions::add_fact(std::string_view key, std::string_view value) {
  facts_.push_back({std::string(key), std::string(value)});
}

void Definitions::add_thread(std::uint32_t ring, std::uint64_t generation, std::uint32_t tid, std::string_view name) {
  threads_.push_back({ring, generation, tid, std::string(name)});
}

std::uint64_t Definitions::add_text(std::string_view text) {
  const std::uint64_t id = text_hash(text);
  texts_.push_back({id, std::string(text.substr(0, kMaxText))});
  return id;
}

void Definitions::add_group(const GroupRecord& record) {
  std::string_view rest = text_behind(record.header);
  Group group{record, {}, {}, {}, {}};
  group.name = take_until(rest, '\0');
  group.description = take_until(rest, '\0');
  group.backend = take_until(rest, '\0');
  while (!rest.empty()) {
    const std::string_view text = take_until(rest, ',');
    std::int32_t rank = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), rank);
    if (error != std::errc{} || end != text.data() + text.size()) break;
    group.ranks.push_back(rank);
  }
  groups_.push_back(std::move(group));
}

void Definitions::add_process(const Identity& identity, const ProcessStart& start, const std::string& ring_name,
                              Level level) {
  builder_.finish(trace::CreateProcessDirect(
                      builder_.fbb(), kTraceFormat, kVersion, identity.host.c_str(), identity.boot_id.c_str(),
                      identity.pid, start.monotonic_ns, start.realtime_ns, identity.rank, identity.local_rank,
                      identity.world_size, identity.attempt, ring_name.c_str(), std::string(level_name(level)).c_str()),
                  messages_);
}

void Definitions::add_hooks(std::uint64_t time_ns, const std::vector<HookCountRow>& hooks) {
  auto& fbb = builder_.fbb();
  const auto rows = vector_of(fbb, hooks, [&](const HookCountRow& row) {
    return trace::CreateHookCountDirect(fbb, row.name.c_str(), row.active, row.fired, row.detail.c_str(), row.number);
  });
  builder_.finish(trace::CreateHooks(fbb, time_ns, rows), messages_);
}

void Definitions::add_end(std::uint64_t time_ns, const ExitDetails& details) {
  builder_.finish(trace::CreateExitDirect(builder_.fbb(), time_ns, details.status, details.signal,
                                          details.exception_class.c_str(), details.exception_message.c_str()),
                  messages_);
}

void Definitions::append_to(MessageBuffer& out) {
  if (!facts_.empty()) write_facts();
  if (!texts_.empty()) write_texts();
  if (!groups_.empty()) write_groups();
  if (!threads_.empty()) write_threads();
  if (!modules_.empty()) write_modules();
  if (!stacks_.empty()) write_stacks();
  out.insert(out.end(), messages_.begin(), messages_.end());
  messages_.clear();
}

void Definitions::write_facts() {
  auto& fbb = builder_.fbb();
  const auto rows = vector_of(fbb, facts_, [&](const Fact& fact) {
    return trace::CreateFactDirect(fbb, fact.key.c_str(), fact.value.c_str());
  });
  builder_.finish(trace::CreateFacts(fbb, rows), messages_);
  facts_.clear();
}

void Definitions::write_texts() {
  auto& fbb = builder_.fbb();
  const auto rows = vector_of(
      fbb, texts_, [&](const Text& text) { return trace::CreateTextDirect(fbb, text.id, text.text.c_str()); });
  builder_.finish(trace::CreateTexts(fbb, rows), messages_);
  texts_.clear();
}

void Definitions::write_groups() {
  auto& fbb = builder_.fbb();
  const auto rows = vector_of(fbb, groups_, [&](const Group& group) {
    const GroupRecord& r = group.record;
    return trace::CreateGroupDirect(fbb, r.group, group.name.c_str(), group.description.c_str(), group.backend.c_str(),
                                    r.pointer, r.rank, r.size, &group.ranks, r.header.time_ns);
  });
  builder_.finish(trace::CreateGroups(fbb, rows), messages_);
  groups_.clear();
}

void Definitions::write_threads() {
  auto& fbb = builder_.fbb();
  const auto rows = vector_of(fbb, threads_, [&](const Thread& thread) {
    return trace::CreateThreadDirect(fbb, thread.ring, thread.generation, thread.tid, thread.name.c_str());
  });
  builder_.finish(trace::CreateThreads(fbb, rows), messages_);
  threads_.clear();
}

void Definitions::write_stacks() {
  auto& fbb = builder_.fbb();
  const auto frames_of = [&](const std::vector<StackFrameDetails>& frames) {
    return vector_of(fbb, frames, [&](const StackFrameDetails& frame) {
      return trace::CreateStackFrame(fbb, frame.pc, frame.function, frame.file, frame.line);
    });
  };
  const auto rows = vector_of(fbb, stacks_, [&](const StackDetails& stack) {
    const auto name = fbb.CreateString(stack.thread_name);
    const auto python = frames_of(stack.python);
    const auto native = frames_of(stack.native);
    return trace::CreateStack(fbb, stack.time_ns, stack.tid, name, static_cast<std::uint8_t>(stack.reason),
                              stack.detail, python, native, stack.flags);
  });
  builder_.finish(trace::CreateStacks(fbb, rows), messages_);
  stacks_.clear();
}

void Definitions::write_modules() {
  auto& fbb = builder_.fbb();
  const auto rows = vector_of(fbb, modules_, [&](const ModuleDetails& module) {
    return trace::CreateModuleDirect(fbb, module.begin, module.end, module.file_offset, module.path.c_str(),
                                     module.build_id.c_str());
  });
  builder_.finish(trace::CreateModules(fbb, rows), messages_);
  modules_.clear();
}

}  // namespace plumbline::recorder
