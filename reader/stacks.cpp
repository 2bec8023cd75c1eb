#include "reader/stacks.hpp"

#include "reader/definitions.hpp"
#include "recorder/trace_generated.h"

namespace plumbline::reader {
namespace {

std::string text_of(const flatbuffers::String* text) { return text != nullptr ? text->str() : std::string(); }

std::string named(std::uint64_t id, const Definitions& texts) {
  const auto it = texts.texts.find(id);
  return it == texts.texts.end() ? std::string() : it->second;
}

using Frames = flatbuffers::Vector<flatbuffers::Offset<trace::StackFrame>>;

std::vector<StackFrame> frames_of(const Frames* frames, const Definitions& texts) {
  std::vector<StackFrame> out;
  if (frames == nullptr) return out;
  out.reserve(frames->size());
  for (const trace::StackFrame* frame : *frames)
    out.push_back({frame->pc(), named(frame->function(), texts), named(frame->file(), texts), frame->line()});
  return out;
}

}  // namespace

std::string_view name_of(StackReason reason) {
  switch (reason) {
    case StackReason::kStall:
      return "stall";
    case StackReason::kFatalSignal:
      return "fatal_signal";
    case StackReason::kLargeAllocation:
      return "large_allocation";
    case StackReason::kFailedAllocation:
      return "failed_allocation";
    case StackReason::kImported:
      return "imported";
  }
  return "unknown";
}

Stack stack_of(const trace::Stack& stack, const Definitions& texts) {
  Stack out;
  out.time_ns = stack.time_ns();
  out.tid = stack.tid();
  out.thread_name = text_of(stack.thread_name());
  out.reason = static_cast<StackReason>(stack.reason());
  out.detail = stack.detail();
  out.python = frames_of(stack.python(), texts);
  out.native = frames_of(stack.native(), texts);
  out.flags = stack.flags();
  return out;
}

Module module_of(const trace::Module& module) {
  return {module.begin(), module.end(), module.file_offset(), text_of(module.path()), text_of(module.build_id())};
}

}  // namespace plumbline::reader
