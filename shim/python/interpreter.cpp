#include "shim/python/interpreter.hpp"

#include <dlfcn.h>

#include <atomic>
#include <cstdio>
#include <cstring>
#include <string>

#include "recorder/recorder.hpp"
#include "shim/python/frames.hpp"
#include "shim/python/python_functions.hpp"

namespace plumbline::shim::python {
namespace {

constinit std::atomic<const Interpreter*> verified{nullptr};
std::string* outcome = nullptr;  // of the verification; never freed

Functions find_functions(bool& complete) noexcept {
  Functions found{};
  complete = true;
#define PLUMBLINE_FRAME_FIND(result, name, parameters)                             \
  found.name = reinterpret_cast<decltype(found.name)>(dlsym(RTLD_DEFAULT, #name)); \
  complete = complete && found.name != nullptr;
  PLUMBLINE_FRAME_FUNCTIONS(PLUMBLINE_FRAME_FIND)
#undef PLUMBLINE_FRAME_FIND
  return found;
}

std::optional<Layout> find_layout(const char* version) noexcept {
  int major = 0;
  int minor = 0;
  if (std::sscanf(version, "%d.%d", &major, &minor) != 2) return std::nullopt;
  if (const auto known = layout_of(major, minor)) return known;
  const void* const runtime = dlsym(RTLD_DEFAULT, "_PyRuntime");
  std::uint64_t words[kTableWords];
  if (runtime == nullptr || !GuardedMemory::copy(reinterpret_cast<Address>(runtime), words, sizeof words))
    return std::nullopt;
  return layout_from_table(words);
}

std::string attribute_text(const Functions& py, Object* object, const char* name) noexcept {
  const Reference value(py, py.PyObject_GetAttrString(object, name));
  const char* const text = value ? py.PyUnicode_AsUTF8(value.get()) : nullptr;
  if (text == nullptr) py.PyErr_Clear();
  return text != nullptr ? text : "";
}

// Walks both ways, outwards from the innermost frame. Empty when they agree, else what differs.
std::string difference(const Functions& py, const Layout& layout, int& frames) noexcept {
  FrameWalk<GuardedMemory> walk(layout, py.PyGILState_GetThisThreadState());
  const char* const name = layout.lines == LineFormat::kLocations ? "co_qualname" : "co_name";
  Object* frame = py.PyEval_GetFrame();
  if (frame == nullptr) return "no frame to compare";
  py.Py_IncRef(frame);
  while (frame != nullptr) {
    const Reference held(py, frame);
    const Reference code(py, py.PyFrame_GetCode(frame));
    if (!walk.next()) return "frames are missing";
    if (walk.frame().code != reinterpret_cast<Address>(code.get())) return "another code object";
    const auto text = describe(layout, walk.frame());
    if (!text || text->file != attribute_text(py, code.get(), "co_filename")) return "another file";
    if (text->function != attribute_text(py, code.get(), name)) return "another function";
    const int line = py.PyFrame_GetLineNumber(frame);
    if (static_cast<int>(text->line) != line) return "another line";
    ++frames;
    frame = py.PyFrame_GetBack(frame);
  }
  return walk.next() ? "too many frames" : "";
}

std::string find_torch_folder(const Functions& py) noexcept {
  Object* const modules = py.PySys_GetObject("modules");
  Object* const torch = modules != nullptr ? py.PyDict_GetItemString(modules, "torch") : nullptr;
  if (torch == nullptr) return {};
  const std::string file = attribute_text(py, torch, "__file__");
  return file.substr(0, file.rfind('/') + 1);
}

void report_verification() noexcept { recorder::fact("python.frames", *outcome); }

}  // namespace

const Functions* functions() noexcept {
  static bool complete = false;
  static const Functions found = find_functions(complete);
  return complete ? &found : nullptr;
}

bool is_code(const Interpreter& python, Address object) noexcept {
  return load<const void*, GuardedMemory>(object + kObjectType) == python.code_type;
}

Address lock_holder(const Interpreter& python) noexcept {
  const Layout& layout = python.layout;
  if (layout.lock_holder == 0)
    return python.current_thread != nullptr ? reinterpret_cast<Address>(python.current_thread()) : 0;
  if (load<std::int32_t, GuardedMemory>(python.state + layout.lock_locked) <= 0) return 0;
  return load<Address, GuardedMemory>(python.state + layout.lock_holder);
}

const Interpreter* interpreter() noexcept { return verified.load(std::memory_order_acquire); }

const char* verify_frames() noexcept {
  const Functions* const py = functions();
  if (outcome != nullptr) return outcome->c_str();
  if (py == nullptr) return nullptr;
  const char* const version = py->Py_GetVersion();
  const auto layout = find_layout(version);
  int frames = 0;
  const std::string differs = layout ? difference(*py, *layout, frames) : "its layout is not known";
  const std::string number(version, std::strcspn(version, " "));
  if (differs.empty()) {
    const auto* const torch_folder = new std::string(find_torch_folder(*py));
    const auto own = reinterpret_cast<Address>(py->PyGILState_GetThisThreadState());
    const auto current = reinterpret_cast<void* (*)()>(dlsym(RTLD_DEFAULT, "_PyThreadState_UncheckedGet"));
    verified.store(
        new Interpreter{*layout, py->PyGILState_GetThisThreadState, dlsym(RTLD_DEFAULT, "PyCode_Type"),
                        load<Address, GuardedMemory>(own + layout->thread_interpreter), current, *torch_folder},
        std::memory_order_release);
    outcome = new std::string("read without the interpreter lock: Python " + number + ", compared on " +
                              std::to_string(frames) + " frames");
  } else {
    outcome = new std::string("not read: Python " + number + ": " + differs);
  }
  report_verification();
  return outcome->c_str();
}

void schedule_verification() noexcept {
  using AddPendingCall = int (*)(int (*)(void*), void*);
  const auto add = reinterpret_cast<AddPendingCall>(dlsym(RTLD_DEFAULT, "Py_AddPendingCall"));
  if (outcome != nullptr) return report_verification();
  if (add == nullptr) return;
  add(
      [](void*) {
        verify_frames();
        return 0;
      },
      nullptr);
}

}  // namespace plumbline::shim::python
