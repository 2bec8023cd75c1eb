#include "shim/torch/process_facts.hpp"

#include <dlfcn.h>
#include <torch/version.h>

#include <cstdio>
#include <cstring>
#include <string_view>
#include <utility>

#include "shim/torch/host.hpp"
#include "shim/torch/python_api.hpp"

namespace plumbline::shim::adapter {
namespace {

void fact_from(PyObject* object, const char* name, const char* key) noexcept {
  const Ref value = attribute(object, name);
  if (const char* text = text_of(value.get())) host().fact(key, text);
}

// "2.27.5" for libnccl's number 22705.
void record_nccl_version() noexcept {
  void* const library = dlopen("libnccl.so.2", RTLD_NOLOAD | RTLD_NOW);
  if (library == nullptr) return;
  int number = 0;
  const auto get = reinterpret_cast<int (*)(int*)>(dlsym(library, "ncclGetVersion"));
  if (get != nullptr && get(&number) == 0) {
    char text[32];
    std::snprintf(text, sizeof text, "%d.%d.%d", number / 10000, number / 100 % 100, number % 100);
    host().fact("nccl.version", text);
  }
  dlclose(library);
}

PyObject* earlier_hook = nullptr;

// str() of an exception may run code of the job. It is about to be run anyway, to print the same text.
void note_exception(PyObject* type, PyObject* value) noexcept {
  ErrorGuard guard;
  const Ref name = attribute(type, "__name__");
  const Ref text(python()->PyObject_Str(value));
  const char* const message = text_of(text.get());
  char line[512] = "";
  if (message != nullptr) {
    const std::string_view first = std::string_view(message).substr(0, std::strcspn(message, "\n"));
    std::snprintf(line, sizeof line, "%.*s", static_cast<int>(first.size()), first.data());
  }
  const char* const type_name = text_of(name.get());
  host().set_exception(type_name != nullptr ? type_name : "", line);
}

// "PATH:LINE in FUNCTION" of one entry of a traceback, after the separator.
void write_entry(PyObject* entry, const char* separator, char* text, std::size_t size) noexcept {
  const Ref frame = attribute(entry, "tb_frame");
  const Ref code = attribute(frame.get(), "f_code");
  const Ref file = attribute(code.get(), "co_filename");
  Ref function = attribute(code.get(), "co_qualname");
  if (!function) function = attribute(code.get(), "co_name");  // before Python 3.11
  const Ref line = attribute(entry, "tb_lineno");
  if (!frame || !code || !file || !function || !line) return;
  const char* const path = text_of(file.get());
  const char* const name = text_of(function.get());
  if (path == nullptr || name == nullptr) return;
  std::snprintf(text, size, "%s%s:%zd in %s", separator, path, python()->PyLong_AsSsize_t(line.get()), name);
}

// Where the exception was raised: the innermost entries of its traceback, innermost first.
void note_traceback(PyObject* trace) noexcept {
  constexpr std::size_t kKept = 16;
  ErrorGuard guard;
  Ref entries[kKept];
  std::size_t count = 0;
  python()->Py_IncRef(trace);
  Ref next(trace);
  // None, which ends the chain, has no such attribute.
  while (Ref after = next ? attribute(next.get(), "tb_next") : Ref()) {
    entries[count++ % kKept] = std::move(next);
    next = std::move(after);
  }
  char text[4096] = "";
  for (std::size_t back = 1; back <= count && back <= kKept; ++back) {
    const std::size_t used = std::strlen(text);
    write_entry(entries[(count - back) % kKept].get(), used == 0 ? "" : " < ", text + used, sizeof text - used);
  }
  if (text[0] != '\0') host().fact("exception.stack", text);
}

PyObject* excepthook(PyObject*, PyObject* const* arguments, PySsize count) {
  if (count == 3 && host().active()) {
    note_exception(arguments[0], arguments[1]);
    note_traceback(arguments[2]);
  }
  return python()->PyObject_CallFunctionObjArgs(earlier_hook, count > 0 ? arguments[0] : nullptr,
                                                count > 1 ? arguments[1] : nullptr, count > 2 ? arguments[2] : nullptr,
                                                nullptr);
}

}  // namespace

void record_torch_facts() noexcept {
  PyObject* const version = loaded_module("torch.version");
  fact_from(version, "__version__", "torch.version");
  fact_from(version, "git_version", "torch.git");
  fact_from(version, "cuda", "torch.cuda");
  host().fact("adapter.torch", TORCH_VERSION);
  if (PyObject* const text = python()->PySys_GetObject("version"); const char* words = text_of(text)) {
    char number[32];
    std::snprintf(number, sizeof number, "%.*s", static_cast<int>(std::strcspn(words, " ")), words);
    host().fact("python.version", number);
  }
  record_nccl_version();
}

bool install_excepthook() noexcept {
  const Python& py = *python();
  static PyMethodDef method = {"plumbline_excepthook", excepthook, kMethodFastCall, nullptr};
  PyObject* const earlier = py.PySys_GetObject("excepthook");
  if (earlier_hook != nullptr || earlier == nullptr) return false;
  const Ref hook(py.PyCFunction_NewEx(&method, nullptr, nullptr));
  if (!hook) return false;
  py.Py_IncRef(earlier);
  earlier_hook = earlier;
  return py.PySys_SetObject("excepthook", hook.get()) == 0;
}

}  // namespace plumbline::shim::adapter
