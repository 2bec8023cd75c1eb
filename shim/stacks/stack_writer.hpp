// Puts stacks, the texts that they refer to and the modules that they lie in into a trace's definitions.
#pragma once

#include <cstdint>
#include <set>
#include <vector>

#include "recorder/definitions.hpp"
#include "shim/python/frame_list.hpp"
#include "shim/stacks/module_map.hpp"

namespace plumbline::shim::stacks {

// Used by the writer thread alone; one for the life of a trace, so that a module is told once.
class StackWriter {
 public:
  // Up to the first frame whose code object is gone by now.
  static std::vector<recorder::StackFrameDetails> python_frames(const python::FrameList& list,
                                                                recorder::Definitions& to) noexcept;
  static std::vector<recorder::StackFrameDetails> native_frames(const std::vector<std::uint64_t>& pcs) noexcept;

  void add(recorder::StackDetails stack, const ModuleMap& modules, recorder::Definitions& to) noexcept;

 private:
  std::set<std::pair<Address, std::string>> told_;
};

}  // namespace plumbline::shim::stacks
