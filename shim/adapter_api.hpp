// What the preload object and the torch adapter say to each other. Plain C types and function pointers: the two are
// built by different compilers against different standard libraries. No function of either table throws.
//
// The adapter exports one symbol, plumbline_adapter_init. The preload object dlopen()s the adapter in the main thread
// (from a Python pending call, or from the first collective) and calls it once.
#pragma once

#include <cstddef>
#include <cstdint>

#include "recorder/capture.hpp"
#include "recorder/event.hpp"
#include "recorder/level.hpp"

extern "C" {

inline constexpr std::uint32_t kPlumblineAdapterVersion = 5;

struct PlumblineHost {
  std::uint32_t version;
  std::uint32_t size;
  std::uint64_t (*now_ns)();
  bool (*active)();
  bool (*push)(const plumbline::recorder::RecordHeader* record);
  std::uint64_t (*text_id)(const char* text, std::size_t length);
  std::uint64_t (*next_id)();
  std::uint64_t (*define_group)(const char* name, const char* description, const char* backend, const char* ranks,
                                std::int32_t rank, std::int32_t size, std::uint64_t pointer);
  void (*promote)(const char* why);
  void (*fact)(const char* key, const char* value);
  void (*hook_fired)(unsigned hook);
  void (*hook_state)(unsigned hook, const char* name, bool active, const char* detail);
  void (*set_exception)(const char* type, const char* message);
  // Version of the torch in the process, as its version.py says ("2.11.0+cu130"); empty where it is not known. An
  // adapter that was built for another one must refuse: the layouts that it was compiled with are not those of the
  // process.
  const char* torch_version;
  // The calling thread makes a request of so many bytes, or one of its has failed: leaves its stack where that is due.
  void (*request_made)(std::uint64_t bytes);
  void (*request_failed)(std::uint64_t bytes);
  // Tensors that probes captured, see recorder/captures.hpp. Not for hot paths.
  plumbline::recorder::Level (*level)();
  bool (*capture)(const plumbline::recorder::Capture* capture);
  void (*flush_captures)();
  // Whether the settings choose this optimizer step, and how much they keep of a probe.
  bool (*capture_step)(std::int64_t step);
  plumbline::recorder::CaptureWish (*capture_wish)(const char* probe);
  std::uint64_t (*capture_hash)(const void* data, std::size_t bytes);  // CaptureHash::kXxh3
  bool (*nan_fill)();                                                  // parameters, before they are loaded
  // What the calling thread launches on a device in between belongs to the range or operator of this handle.
  void (*begin_launches)(std::uint64_t handle);
  void (*end_launches)();
  const char* (*probe_template)();  // recorder/probe_template.hpp's JSON, empty without one
};

struct PlumblineAdapter {
  std::uint32_t version;
  std::uint32_t size;
  // Fills count_in, count_out, dtype, reduce op, peer, tag, buffers and split sizes of a c10d call from its arguments,
  // and the group, defining it at first sight. `backend` is the c10d::Backend*, `arguments` the call's reference or
  // value arguments in order, as pointers (an int by its value in the pointer).
  void (*describe_collective)(plumbline::recorder::Op op, void* backend, void* const* arguments,
                              plumbline::recorder::CollectiveRecord* record);
  // Group of a backend without a call, 0 when it has no name yet.
  std::uint64_t (*group_of)(void* backend);
  // at::RecordFunction::RecordFunction(RecordScope), without our own observer where there is no other. May throw what
  // torch's may.
  void (*construct_range)(void* range, std::uint8_t scope);
  // Before torch looks up `indices` in `weight`, both at::Tensor. Needs no interpreter lock.
  void (*note_embedding)(const void* weight, const void* indices);
  // What a collective is given and what it leaves, at steps that the settings choose. From any thread.
  // Before the real call, whose record is filled in.
  void (*take_inputs)(plumbline::recorder::Op op, void* backend, void* const* arguments,
                      const plumbline::recorder::CollectiveRecord* record);
  // The backend begins with a call, and is done with it; nobody who waits for it has been woken.
  void (*collective_begins)(std::uint64_t id);
  void (*collective_ends)(std::uint64_t id, bool completed);
  // The outputs of a call are copied from elsewhere when the job waits for it. Both return for how many calls that is
  // so; `tensor` is the at::Tensor* that was copied to.
  std::size_t (*outputs_follow)(std::uint64_t id);
  std::size_t (*tensor_copied)(const void* tensor);
  // Of backends that work on a device: a call that is about to come, as take_inputs; then that its work is about to be
  // put into a stream (a cudaStream_t), and that it has been.
  void (*expect_device_call)(plumbline::recorder::Op op, void* backend, void* const* arguments,
                             const plumbline::recorder::CollectiveRecord* record);
  void (*device_call)(std::uint64_t id, void* stream, bool done);
};

// Null when this torch cannot be served; the reason is then in the host's facts.
using PlumblineAdapterInit = const PlumblineAdapter* (*)(const PlumblineHost* host);

}  // extern "C"
