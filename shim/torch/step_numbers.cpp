#include "shim/torch/step_numbers.hpp"

#include <algorithm>
#include <exception>
#include <vector>

namespace plumbline::shim::adapter {
namespace {

// An optimizer that is gone may be followed by another one at its address: only the weak reference knows.
struct Followed {
  PyObject* optimizer;
  PyObject* weak;
  std::int64_t steps;
  std::int64_t ordinal;
};

// In the order of their first steps; never destroyed, since the interpreter may be gone by then.
std::vector<Followed>& followed() {
  static auto* const list = new std::vector<Followed>;
  return *list;
}

bool is_alive(const Followed& entry) noexcept {
  const Ref referent(python()->PyObject_CallFunctionObjArgs(entry.weak, nullptr));
  return referent.get() == entry.optimizer;
}

void forget_dead() {
  auto& list = followed();
  const auto dead = std::stable_partition(list.begin(), list.end(), is_alive);
  for (auto entry = dead; entry != list.end(); ++entry) python()->Py_DecRef(entry->weak);
  list.erase(dead, list.end());
}

Followed* find(PyObject* optimizer) {
  auto& list = followed();
  const auto is_it = [&](const Followed& entry) { return entry.optimizer == optimizer; };
  const auto found = std::find_if(list.begin(), list.end(), is_it);
  if (found != list.end() && is_alive(*found)) return &*found;
  forget_dead();
  static std::int64_t next_ordinal = 0;
  PyObject* const weak = python()->PyWeakref_NewRef(optimizer, nullptr);
  if (weak == nullptr) return nullptr;
  list.push_back({optimizer, weak, 0, next_ordinal++});
  return &list.back();
}

}  // namespace

StepNumber count_step(PyObject* optimizer) noexcept {
  try {
    Followed* const entry = find(optimizer);
    if (entry == nullptr) return {};
    return {entry->steps++, entry->ordinal};
  } catch (const std::exception&) {
    return {};
  }
}

std::int64_t next_step_number() noexcept {
  for (const Followed& entry : followed()) {
    if (is_alive(entry)) return entry.steps;
  }
  return 0;
}

}  // namespace plumbline::shim::adapter
