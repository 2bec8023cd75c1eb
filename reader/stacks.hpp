// Stacks that the recorder took, or that an importer brought: of a stall, a fatal signal, an allocation.
//
//   for (const Stack& stack : trace.definitions().stacks)
//     if (stack.is(recorder::kTrainingThread)) use(stack.python.front().file, stack.python.front().line);
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "recorder/stacks.hpp"

namespace plumbline::trace {
struct Module;
struct Stack;
}  // namespace plumbline::trace

namespace plumbline::reader {

using recorder::StackReason;

struct Definitions;

struct StackFrame {
  std::uint64_t pc = 0;  // of a native frame, in the process
  std::string function;  // empty: not known
  std::string file;
  std::uint32_t line = 0;
};

struct Stack {
  std::uint64_t time_ns = 0;
  std::uint32_t tid = 0;
  std::string thread_name;
  StackReason reason = StackReason::kStall;
  std::uint64_t detail = 0;        // of the reason: signal, bytes, nanoseconds of the stall
  std::vector<StackFrame> python;  // innermost first
  std::vector<StackFrame> native;
  std::uint32_t flags = 0;

  bool is(recorder::StackFlags flag) const { return (flags & flag) != 0; }
};

// A stretch of memory that a file was mapped to for execution.
struct Module {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::uint64_t file_offset = 0;  // of begin
  std::string path;
  std::string build_id;  // hexadecimal
};

std::string_view name_of(StackReason reason);  // "stall", "fatal_signal" …

// Of a trace's message; names that the trace has not defined yet stay empty.
Stack stack_of(const trace::Stack& stack, const Definitions& texts);
Module module_of(const trace::Module& module);

}  // namespace plumbline::reader
