#include "tools/run_reader/trace_json.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <ostream>

#include "reader/names.hpp"
#include "tools/run_reader/json_line.hpp"

namespace plumbline::tools {
namespace {

// Begins a line with what every line of a trace carries.
JsonLine& begin(JsonLine& line, std::string_view record, const reader::Trace& trace) {
  return line.text("record", record).number("rank", trace.rank()).number("attempt", trace.attempt());
}

std::string_view name_of(reader::Severity severity) {
  switch (severity) {
    case reader::Severity::kInfo:
      return "info";
    case reader::Severity::kNotice:
      return "notice";
    case reader::Severity::kDataLoss:
      return "data_loss";
  }
  return "unknown";
}

// {"alloc":3,"free":2}: the kinds that have a count.
std::string counts_by_kind(const std::vector<std::uint64_t>& counts) {
  std::string text = "{";
  for (std::size_t kind = 0; kind < counts.size(); ++kind) {
    if (counts[kind] == 0) continue;
    text += fmt::format("{}\"{}\":{}", text.size() > 1 ? "," : "", reader::name_of(static_cast<recorder::Kind>(kind)),
                        counts[kind]);
  }
  return text + "}";
}

// [["step","/job/train.py",10], …]: the names that make up most of a stack, once each frame.
std::string python_frames(const reader::Stack& stack) {
  std::string text = "[";
  for (const reader::StackFrame& frame : stack.python) {
    text += fmt::format("{}[{},{},{}]", text.size() > 1 ? "," : "", json_string(frame.function),
                        json_string(frame.file), frame.line);
  }
  return text + "]";
}

std::string native_frames(const reader::Stack& stack) {
  std::string text = "[";
  for (const reader::StackFrame& frame : stack.native)
    text += fmt::format("{}\"{:#x}\"", text.size() > 1 ? "," : "", frame.pc);
  return text + "]";
}

}  // namespace

void write_definitions(std::ostream& out, const reader::Trace& trace) {
  JsonLine line;
  const reader::ProcessInfo& process = trace.process();
  begin(line, "process", trace).text("trace", trace.path()).text("host", process.host).number("pid", process.pid);
  line.number("local_rank", process.local_rank).number("world_size", process.world_size);
  line.boolean("rank_confirmed", trace.rank_confirmed()).text("boot_id", process.boot_id);
  line.number("start_monotonic_ns", process.start_monotonic_ns).number("start_realtime_ns", process.start_realtime_ns);
  line.text("level", process.level).text("plumbline", process.plumbline_version).number("format", process.format);
  out << line.finish();
  const reader::Definitions& definitions = trace.definitions();
  for (const auto& [key, value] : definitions.facts) {
    out << begin(line, "fact", trace).text("key", key).text("value", value).finish();
  }
  for (const reader::Group& group : definitions.groups) {
    begin(line, "group", trace).hex("group", group.id).text("name", group.name).text("description", group.description);
    line.text("backend", group.backend).number("group_rank", group.rank).number("size", group.size);
    out << line.raw("ranks", fmt::format("[{}]", fmt::join(group.ranks, ","))).finish();
  }
  for (const reader::Thread& thread : definitions.threads) {
    begin(line, "thread", trace).number("ring", thread.ring).number("generation", thread.generation);
    out << line.number("tid", thread.tid).text("name", thread.name).finish();
  }
  for (const reader::Module& module : definitions.modules) {
    begin(line, "module", trace).hex("begin", module.begin).hex("end", module.end).text("path", module.path);
    out << line.hex("file_offset", module.file_offset).text_if("build_id", module.build_id).finish();
  }
  for (const reader::Stack& stack : definitions.stacks) {
    begin(line, "stack", trace).number("time_ns", stack.time_ns).number("tid", stack.tid);
    line.text("thread", stack.thread_name).text("reason", reader::name_of(stack.reason)).number("detail", stack.detail);
    line.boolean("training_thread", stack.is(recorder::kTrainingThread)).boolean("idle", stack.is(recorder::kIdle));
    line.boolean("holds_interpreter_lock", stack.is(recorder::kHoldsInterpreterLock));
    out << line.raw("python", python_frames(stack)).raw("native", native_frames(stack)).finish();
  }
  for (const reader::HookCount& hook : definitions.hooks) {
    begin(line, "hook", trace).text("name", hook.name).boolean("active", hook.active).number("fired", hook.fired);
    out << line.text_if("detail", hook.detail).finish();
  }
}

void write_end(std::ostream& out, const reader::Trace& trace) {
  JsonLine line;
  for (const reader::InFlightCall& call : trace.in_flight()) {
    begin(line, "in_flight", trace).text("kind", reader::name_of(call.what)).number("tid", call.tid);
    out << line.number("time_ns", call.time_ns).number("id_or_size", call.id_or_size).finish();
  }
  for (const reader::EvictedRange& range : trace.evicted()) {
    begin(line, "evicted", trace).number("first_ns", range.first_ns).number("last_ns", range.last_ns);
    line.number("frames", range.frames).number("compressed_bytes", range.compressed_bytes);
    out << line.raw("events", counts_by_kind(range.events)).finish();
  }
  for (const reader::Damage& damage : trace.damage()) {
    begin(line, "damage", trace).number("offset", damage.offset).number("bytes", damage.bytes);
    out << line.text("what", damage.what).finish();
  }
  out << begin(line, "dropped", trace).raw("events", counts_by_kind(trace.dropped())).finish();
  if (const reader::ExitInfo* exit = trace.exit()) {
    begin(line, "exit", trace).number("time_ns", exit->time_ns).number("status", exit->status);
    line.number("signal", exit->signal).text_if("exception_class", exit->exception_class);
    out << line.text_if("exception_message", exit->exception_message).finish();
  }
  for (const reader::Stat& stat : trace.stats().rows()) {
    begin(line, "stat", trace).text("name", stat.name).text("severity", name_of(stat.severity));
    out << line.number("value", stat.value).text_if("detail", stat.detail).finish();
  }
}

}  // namespace plumbline::tools
