// Facts of a tensor read from its C++ object alone: no dispatch, no Python, no device access, no synchronisation.
#pragma once

#include <c10/core/ScalarType.h>

#include <cstdint>

#include "shim/torch/python_api.hpp"

namespace c10 {
struct TensorImpl;
}

namespace plumbline::shim::adapter {

// The tensor inside a Python object, null if it is none. Needs the interpreter lock.
const c10::TensorImpl* tensor_of(PyObject* object) noexcept;

bool has_grad(const c10::TensorImpl& tensor) noexcept;

// Elements of a plain tensor; of a wrapper such as DTensor, those of the whole. 0 when only symbols are known.
std::uint64_t elements_of(const c10::TensorImpl& tensor) noexcept;

// A number in host memory, as an element of a tensor of this type; NaN for types that are no numbers.
double number_at(const void* address, c10::ScalarType type) noexcept;

// The value of a one-element number tensor in host memory, else NaN.
double scalar_of(const c10::TensorImpl& tensor) noexcept;

}  // namespace plumbline::shim::adapter
