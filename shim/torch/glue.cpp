#include "shim/torch/glue.hpp"

#include <cstdio>
#include <cstring>

#include "shim/torch/glue_functions.hpp"
#include "shim/torch/host.hpp"
#include "shim/torch/probe_functions.hpp"

namespace plumbline::shim::adapter {
namespace {

struct Source {
  const char* name;
  const char* text;
};

// In this order, in one namespace.
constexpr Source kSources[] = {
    {
        "<plumbline values>",
#include "shim/torch/glue/values.py.inc"
    },
    {
        "<plumbline names>",
#include "shim/torch/glue/names.py.inc"
    },
    {
        "<plumbline placement>",
#include "shim/torch/glue/placement.py.inc"
    },
    {
        "<plumbline flat_parameters>",
#include "shim/torch/glue/flat_parameters.py.inc"
    },
    {
        "<plumbline optimizer>",
#include "shim/torch/glue/optimizer.py.inc"
    },
    {
        "<plumbline checkpoints>",
#include "shim/torch/glue/checkpoints.py.inc"
    },
    {
        "<plumbline functions>",
#include "shim/torch/glue/functions.py.inc"
    },
    {
        "<plumbline modules>",
#include "shim/torch/glue/modules.py.inc"
    },
    {
        "<plumbline schedules>",
#include "shim/torch/glue/schedules.py.inc"
    },
    {
        "<plumbline heads>",
#include "shim/torch/glue/heads.py.inc"
    },
    {
        "<plumbline probes>",
#include "shim/torch/glue/probes.py.inc"
    },
};

constexpr int kMostErrors = 5;

PyObject* globals = nullptr;  // of the glue; never given back
int errors = 0;

// The error that is set, if it is an Exception, as a fact.
void tell_error(const char* where) noexcept {
  const Python& py = *python();
  if (py.PyErr_Occurred() == nullptr || py.PyErr_ExceptionMatches(*py.PyExc_Exception) == 0) return;
  PyObject* type = nullptr;
  PyObject* value = nullptr;
  PyObject* trace = nullptr;
  py.PyErr_Fetch(&type, &value, &trace);
  const Ref owned[] = {Ref(type), Ref(value), Ref(trace)};
  ++errors;
  const Ref name = attribute(type, "__name__");
  const Ref text(value != nullptr ? py.PyObject_Str(value) : nullptr);
  if (!text && py.PyErr_ExceptionMatches(*py.PyExc_Exception) != 0) py.PyErr_Clear();
  const char* const name_text = text_of(name.get());
  const char* const message = text_of(text.get());
  char line[300];
  std::snprintf(line, sizeof line, "%s: %s: %.200s", where, name_text != nullptr ? name_text : "?",
                message != nullptr ? message : "");
  char key[40];
  std::snprintf(key, sizeof key, "captures.error.%d", errors);
  host().fact(key, line);
}

bool run(const Source& source) noexcept {
  const Python& py = *python();
  const Ref code(py.Py_CompileStringExFlags(source.text, source.name, kFileInput, nullptr, -1));
  if (!code) return false;
  return static_cast<bool>(Ref(py.PyEval_EvalCode(code.get(), globals, globals)));
}

bool run_all() noexcept {
  const Python& py = *python();
  PyObject* const builtins = loaded_module("builtins");
  globals = py.PyDict_New();
  if (globals == nullptr || builtins == nullptr) return false;
  if (py.PyDict_SetItemString(globals, "__builtins__", builtins) != 0 || !add_glue_functions(globals) ||
      !add_probe_functions(globals)) {
    return false;
  }
  for (const Source& source : kSources) {
    if (run(source)) continue;
    tell_error(source.name);
    return false;
  }
  return true;
}

// False when the sources cannot run here.
bool load_glue() noexcept {
  static const bool loaded = run_all();
  return loaded;
}

// torch.compile watches the frames that run below a compiled function; not ours.
class Untraced {
 public:
  Untraced() noexcept {
    if (loaded_module("torch._dynamo") == nullptr) return;
    set_ = attribute(loaded_module("torch._C._dynamo.eval_frame"), "set_eval_frame");
    if (!set_) return;
    const Ref none(python()->Py_BuildValue(""));
    earlier_ = Ref(python()->PyObject_CallFunctionObjArgs(set_.get(), none.get(), nullptr));
  }
  ~Untraced() {
    if (!earlier_) return;
    ErrorGuard guard;
    const Ref ours(python()->PyObject_CallFunctionObjArgs(set_.get(), earlier_.get(), nullptr));
  }
  Untraced(const Untraced&) = delete;
  Untraced& operator=(const Untraced&) = delete;

 private:
  Ref set_;
  Ref earlier_;
};

}  // namespace

Ref call_glue(const char* function, const Ref& arguments) noexcept {
  if (errors >= kMostErrors || !arguments || !load_glue()) return Ref();
  PyObject* const callable = python()->PyDict_GetItemString(globals, function);
  if (callable == nullptr) return Ref();
  const Untraced untraced;
  Ref result(python()->PyObject_CallObject(callable, arguments.get()));
  if (!result) tell_error(function);
  return result;
}

void install_watches() noexcept {
  const Python& py = *python();
  call_glue("watch_checkpoints", Ref(py.Py_BuildValue("()")));
  if (py.PyErr_Occurred() == nullptr) return;
  py.PyErr_Clear();
  py.PyErr_SetInterrupt();
}

}  // namespace plumbline::shim::adapter
