// Which thread runs which Python thread state, read from the interpreter's own list, guarded.
#pragma once

#include <cstdint>
#include <map>

#include "shim/python/interpreter.hpp"

namespace plumbline::shim::stacks {

class PythonThreads {
 public:
  void refresh(const python::Interpreter& interpreter) noexcept;
  // 0: the thread has none.
  Address state_of(std::uint32_t tid) const noexcept;
  bool holds_lock(Address state) const noexcept { return state != 0 && state == holder_; }

 private:
  std::map<std::uint32_t, Address> states_;
  Address holder_ = 0;
};

}  // namespace plumbline::shim::stacks
