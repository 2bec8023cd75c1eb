#include "shim/torch/optimizer_captures.hpp"

#include "shim/torch/glue.hpp"
#include "shim/torch/host.hpp"
#include "shim/torch/step_numbers.hpp"

namespace plumbline::shim::adapter {

void capture_before_step(PyObject* arguments, OpenStep& step) noexcept {
  const Python& py = *python();
  PyObject* const optimizer = py.PyTuple_GetItem(arguments, 0);
  const StepNumber number = count_step(optimizer);
  if (number.step < 0 || !host().active() || !host().capture_step(number.step)) return;
  const Ref values(py.Py_BuildValue("(OLLKiOO)", optimizer, static_cast<long long>(number.step),
                                    static_cast<long long>(number.ordinal), static_cast<unsigned long long>(step.key),
                                    static_cast<int>(step.depth), py.PyTuple_GetItem(arguments, 1),
                                    py.PyTuple_GetItem(arguments, 2)));
  step.ordinal = number.ordinal;
  step.captured = static_cast<bool>(call_glue("before_step", values));
}

void capture_after_step(PyObject* arguments, OpenStep& step) noexcept {
  if (!step.captured) return;
  step.captured = false;
  call_glue("after_step", Ref(python()->Py_BuildValue("(OL)", python()->PyTuple_GetItem(arguments, 0),
                                                      static_cast<long long>(step.ordinal))));
}

}  // namespace plumbline::shim::adapter
