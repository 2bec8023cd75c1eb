#include "shim/torch/param_groups.hpp"

#include <algorithm>
#include <cmath>
#include <exception>
#include <limits>
#include <vector>

#include "shim/torch/host.hpp"
#include "shim/torch/tensor_peek.hpp"

namespace plumbline::shim::adapter {
namespace {

using recorder::StepGroupRecord;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr std::uint64_t kNoKey = 14695981039346656037ull;

// Names of settings as interned Python strings, made once and kept: a look-up then allocates nothing.
struct Names {
  PyObject* params;
  PyObject* lr;
  PyObject* weight_decay;
  PyObject* betas;
  PyObject* eps;
  PyObject* momentum;
  PyObject* step;
};

const Names& names() noexcept {
  static const Names made = [] {
    const auto intern = python()->PyUnicode_InternFromString;
    return Names{intern("params"), intern("lr"),       intern("weight_decay"), intern("betas"),
                 intern("eps"),    intern("momentum"), intern("step")};
  }();
  return made;
}

// A value of a dict (borrowed), null without one.
PyObject* item(PyObject* dict, PyObject* name) noexcept {
  if (!is_instance(dict, python()->PyDict_Type) || name == nullptr) return nullptr;
  PyObject* found = python()->PyDict_GetItemWithError(dict, name);
  if (found == nullptr) python()->PyErr_Clear();
  return found;
}

// The value of a float, an int or a one-element tensor in host memory. Nothing else is asked for its value: that could
// run code of the job.
double number(PyObject* value) noexcept {
  const Python& py = *python();
  if (is_instance(value, py.PyFloat_Type)) return py.PyFloat_AsDouble(value);
  if (is_instance(value, py.PyLong_Type)) {
    const double converted = py.PyLong_AsDouble(value);
    if (py.PyErr_Occurred() == nullptr) return converted;
    py.PyErr_Clear();
    return kNan;
  }
  const c10::TensorImpl* tensor = tensor_of(value);
  return tensor != nullptr ? scalar_of(*tensor) : kNan;
}

double beta(PyObject* betas, PySsize index) noexcept {
  if (!is_instance(betas, python()->PyTuple_Type) && !is_instance(betas, python()->PyList_Type)) return kNan;
  const bool tuple = is_instance(betas, python()->PyTuple_Type);
  PyObject* value = tuple ? python()->PyTuple_GetItem(betas, index) : python()->PyList_GetItem(betas, index);
  if (value == nullptr) python()->PyErr_Clear();
  return value != nullptr ? number(value) : kNan;
}

// A param group as it is before the step. `leader` is its first parameter with a gradient, or its first.
struct Group {
  StepGroupRecord record{};
  PyObject* leader = nullptr;
  const c10::TensorImpl* first = nullptr;
};

void count_parameters(PyObject* params, Group& group) noexcept {
  const Python& py = *python();
  if (!is_instance(params, py.PyList_Type)) return;
  const PySsize size = py.PyList_Size(params);
  bool leads = false;
  for (PySsize i = 0; i < size; ++i) {
    PyObject* param = py.PyList_GetItem(params, i);
    const c10::TensorImpl* tensor = tensor_of(param);
    if (tensor == nullptr) continue;
    if (group.first == nullptr) group.first = tensor;
    if (group.leader == nullptr) group.leader = param;
    ++group.record.params;
    group.record.elements += elements_of(*tensor);
    if (!has_grad(*tensor)) continue;
    ++group.record.params_with_grad;
    if (!leads) group.leader = param;
    leads = true;
  }
}

Group read_group(PyObject* dict) noexcept {
  Group group;
  StepGroupRecord& record = group.record;
  record.lr = number(item(dict, names().lr));
  record.weight_decay = number(item(dict, names().weight_decay));
  PyObject* const betas = item(dict, names().betas);
  record.beta1 = beta(betas, 0);
  record.beta2 = beta(betas, 1);
  record.eps = number(item(dict, names().eps));
  record.momentum = number(item(dict, names().momentum));
  record.step = kNan;
  count_parameters(item(dict, names().params), group);
  return group;
}

// Finds the leaders' step counters by walking the state instead of looking them up: a look-up calls Tensor.__hash__,
// which is Python code, and Python code may run signal handlers of the job. The state is in the order of the
// parameters, so the walk usually ends early.
void read_step_counters(PyObject* state, std::vector<Group>& groups) {
  if (!is_instance(state, python()->PyDict_Type)) return;
  std::vector<Group*> wanted;
  wanted.reserve(groups.size());
  for (Group& group : groups) {
    if (group.leader != nullptr) wanted.push_back(&group);
  }
  const auto by_leader = [](const Group* a, const Group* b) { return a->leader < b->leader; };
  std::sort(wanted.begin(), wanted.end(), by_leader);
  std::size_t open = wanted.size();
  PySsize position = 0;
  PyObject* param = nullptr;
  PyObject* entry = nullptr;
  while (open > 0 && python()->PyDict_Next(state, &position, &param, &entry) != 0) {
    const auto found = std::lower_bound(wanted.begin(), wanted.end(), param,
                                        [](const Group* group, const PyObject* key) { return group->leader < key; });
    if (found == wanted.end() || (*found)->leader != param) continue;
    (*found)->record.step = number(item(entry, names().step));
    --open;
  }
}

std::uint64_t key_of(const std::vector<Group>& groups) noexcept {
  std::uint64_t key = kNoKey;
  for (const Group& group : groups) key = (key ^ reinterpret_cast<std::uint64_t>(group.first)) * 1099511628211ull;
  return key;
}

void push_group(StepGroupRecord& record, std::size_t index, std::size_t count, const OpenStep& step) noexcept {
  constexpr std::size_t kMost = 0xffff;
  const auto tag = static_cast<std::uint32_t>(std::min(index, kMost) | std::min(count, kMost) << 16);
  record.header = {host().now_ns(), recorder::Kind::kStepGroup, recorder::slots_of<StepGroupRecord>(), step.depth, tag};
  record.handle = step.handle;
  record.optimizer = step.optimizer;
  record.key = step.key;
  host().push(&record.header);
}

void read_groups(PyObject* optimizer, std::vector<Group>& groups) {
  const Python& py = *python();
  const Ref list = attribute(optimizer, "param_groups");
  if (!is_instance(list.get(), py.PyList_Type)) return;
  const PySsize size = py.PyList_Size(list.get());
  groups.reserve(static_cast<std::size_t>(size));
  for (PySsize i = 0; i < size; ++i) groups.push_back(read_group(py.PyList_GetItem(list.get(), i)));
  const Ref state = attribute(optimizer, "state");
  read_step_counters(state.get(), groups);
}

}  // namespace

void record_param_groups(PyObject* optimizer, OpenStep& step) noexcept {
  try {
    std::vector<Group> groups;
    read_groups(optimizer, groups);
    step.optimizer = reinterpret_cast<std::uint64_t>(optimizer);
    step.key = key_of(groups);
    for (std::size_t i = 0; i < groups.size(); ++i) push_group(groups[i].record, i, groups.size(), step);
  } catch (const std::exception&) {
    step.optimizer = reinterpret_cast<std::uint64_t>(optimizer);
  }
}

}  // namespace plumbline::shim::adapter
