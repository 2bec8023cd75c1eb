// What frames_test.py loads into an interpreter to look at it from below: ctypes calls these functions without the
// interpreter lock, except for probe_verify.
#include <cstring>
#include <string>

#include "recorder/text_hash.hpp"
#include "shim/python/call_site.hpp"
#include "shim/python/frame_list.hpp"
#include "shim/python/frames.hpp"
#include "shim/python/interpreter.hpp"
#include "shim/stacks/python_threads.hpp"
#include "shim/stacks/signal_capture.hpp"

#define PROBE extern "C" [[gnu::visibility("default")]]

namespace python = plumbline::shim::python;

PROBE const char* probe_verify() { return python::verify_frames(); }

PROBE unsigned probe_line(void* code, long offset) {
  const python::Frame frame{reinterpret_cast<plumbline::shim::Address>(code), offset};
  const auto text = python::describe(python::interpreter()->layout, frame);
  return text ? text->line : 0;
}

// "file:line function" of each frame of the calling thread, innermost first, a line each.
PROBE bool probe_stack(char* out, unsigned long size) {
  const python::Interpreter& interpreter = *python::interpreter();
  python::FrameWalk<plumbline::shim::GuardedMemory> walk(interpreter.layout, interpreter.this_thread());
  std::string lines;
  while (walk.next()) {
    const auto text = python::describe(interpreter.layout, walk.frame());
    if (!text) return false;
    lines += text->file + ":" + std::to_string(text->line) + " " + text->function + "\n";
  }
  if (lines.size() + 1 > size) return false;
  std::memcpy(out, lines.c_str(), lines.size() + 1);
  return true;
}

PROBE bool probe_holds_lock() {
  const python::Interpreter& interpreter = *python::interpreter();
  return python::lock_holder(interpreter) == reinterpret_cast<plumbline::shim::Address>(interpreter.this_thread());
}

// Looks at a running thread many times, interrupting it or not: how many looks do not show a frame of `function`.
PROBE int probe_torn_looks(unsigned tid, int looks, bool interrupts, const char* function) {
  const python::Interpreter& interpreter = *python::interpreter();
  plumbline::shim::stacks::PythonThreads threads;
  threads.refresh(interpreter);
  const plumbline::shim::Address state = threads.state_of(tid);
  plumbline::shim::stacks::SignalCapture signals;
  if (interrupts && signals.prepare() == 0) return looks;
  int torn = 0;
  for (int i = 0; i < looks; ++i) {
    plumbline::shim::stacks::CapturedThread captured;
    if (interrupts) signals.capture(tid, state, captured);
    const python::FrameList list = python::whole_frames(interpreter, state, captured.python);
    bool seen = false;
    for (std::size_t at = 0; at < list.count; ++at) {
      const auto text = python::describe(interpreter.layout, list.frames[at]);
      seen = seen || (text && text->function.ends_with(function));
    }
    torn += seen ? 0 : 1;
  }
  return torn;
}

PROBE unsigned long probe_site() { return python::call_site(); }
PROBE unsigned long probe_text_id(const char* text) { return plumbline::recorder::text_hash(text); }
PROBE unsigned long probe_nothing() { return 0; }
