// Program counters of a thread's native stack, from registers and memory, by the call frame information of the modules
// that are mapped. Nothing is called, locked or assumed about the thread: it may run on meanwhile, and what comes out
// is then cut short, but never a fault.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "shim/stacks/module_map.hpp"
#include "shim/stacks/registers.hpp"
#include "shim/stacks/stack_memory.hpp"

namespace plumbline::shim::stacks {

struct NativeStack {
  std::vector<std::uint64_t> pcs;  // innermost first; of callers: the return address less 1, which is inside the call
  bool complete = false;           // the walk came to the thread's outermost frame
};

class Unwinder {
 public:
  explicit Unwinder(const ModuleMap& modules) noexcept : modules_(modules) {}
  NativeStack unwind(Registers registers, const StackMemory& memory) noexcept;

 private:
  Address frame_header_at(Address pc) noexcept;

  const ModuleMap& modules_;
  std::map<Address, Address> frame_headers_;  // by the image's address
};

}  // namespace plumbline::shim::stacks
