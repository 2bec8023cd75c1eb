#include "shim/torch/gc_pauses.hpp"

#include <cstring>

#include "shim/torch/host.hpp"
#include "shim/torch/late_modules.hpp"
#include "shim/torch/python_api.hpp"

namespace plumbline::shim::adapter {
namespace {

// Young generations are collected many times a second, in microseconds: those say nothing.
constexpr std::uint64_t kLeastPause = 200'000;

// Collections do not nest, and each runs under the interpreter lock.
std::uint64_t begun_ns = 0;

void note_pause(std::uint64_t now) noexcept {
  if (begun_ns == 0 || now - begun_ns < kLeastPause || !host().active()) return;
  const recorder::SampleRecord record{{now, recorder::Kind::kSample, recorder::slots_of<recorder::SampleRecord>(), 0,
                                       static_cast<std::uint32_t>(recorder::Counter::kGarbageCollectionNs)},
                                      static_cast<std::int64_t>(now - begun_ns),
                                      0};
  host().push(&record.header);
}

// gc calls it with "start" or "stop", and a dict of numbers.
PyObject* on_collection(PyObject*, PyObject* const* arguments, PySsize count) {
  const char* const phase = count > 0 ? text_of(arguments[0]) : nullptr;
  const std::uint64_t now = host().now_ns();
  if (phase != nullptr && std::strcmp(phase, "start") == 0) {
    begun_ns = now;
  } else {
    note_pause(now);
    begun_ns = 0;
    notice_late_modules();
  }
  return python()->Py_BuildValue("");
}

}  // namespace

bool follow_garbage_collection() noexcept {
  static PyMethodDef method = {"plumbline_collection", on_collection, kMethodFastCall, nullptr};
  const Ref callbacks = attribute(loaded_module("gc"), "callbacks");
  if (!is_instance(callbacks.get(), python()->PyList_Type)) return false;
  const Ref callback(python()->PyCFunction_NewEx(&method, nullptr, nullptr));
  return callback && python()->PyList_Append(callbacks.get(), callback.get()) == 0;
}

}  // namespace plumbline::shim::adapter
