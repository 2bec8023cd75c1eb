// The CPython of the process, as far as its frames are to be read without its help.
//
// verify_frames() compares a walk by our own layout with the official functions, once, in the main thread and under the
// interpreter lock. Until it has found them equal, and for good when they differ, interpreter() is null and nothing is
// read; the fact "python.frames" says which.
#pragma once

#include <string_view>

#include "shim/python/layout.hpp"
#include "shim/python/memory.hpp"

namespace plumbline::shim::python {

struct Interpreter {
  Layout layout;
  // Of the calling thread, with or without the lock; null on threads that never ran Python.
  void* (*this_thread)();
  const void* code_type;  // PyCode_Type
  // The main interpreter, and, up to 3.11, the function that gives the thread state that holds the lock.
  Address state;
  void* (*current_thread)();
  // Folder of the torch package with its last slash; empty when it is not imported.
  std::string_view torch_folder;
};

// Whether an address is that of a code object; guarded.
bool is_code(const Interpreter& python, Address object) noexcept;

// The thread state that holds the interpreter lock, 0 when none does or when this cannot be told.
Address lock_holder(const Interpreter& python) noexcept;

// Null until frames may be read.
const Interpreter* interpreter() noexcept;

// To be called in the main thread with the interpreter lock, as a pending call is. Idempotent; gives the outcome in
// words, null without a CPython.
const char* verify_frames() noexcept;

// Schedules verify_frames(); in a forked child, reports the outcome again. Nothing without a CPython.
void schedule_verification() noexcept;

}  // namespace plumbline::shim::python
