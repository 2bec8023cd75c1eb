#include "shim/stacks/stack_writer.hpp"

#include <utility>

namespace plumbline::shim::stacks {

std::vector<recorder::StackFrameDetails> StackWriter::python_frames(const python::FrameList& list,
                                                                    recorder::Definitions& to) noexcept {
  std::vector<recorder::StackFrameDetails> frames;
  const python::Interpreter* const interpreter = python::interpreter();
  for (std::size_t i = 0; i < list.count && interpreter != nullptr; ++i) {
    const python::Frame& frame = list.frames[i];
    if (!python::is_code(*interpreter, frame.code)) break;
    const auto text = python::describe(interpreter->layout, frame);
    if (!text) break;
    frames.push_back({0, to.add_text(text->function), to.add_text(text->file), text->line});
  }
  return frames;
}

std::vector<recorder::StackFrameDetails> StackWriter::native_frames(const std::vector<std::uint64_t>& pcs) noexcept {
  std::vector<recorder::StackFrameDetails> frames;
  frames.reserve(pcs.size());
  for (const std::uint64_t pc : pcs) frames.push_back({pc, 0, 0, 0});
  return frames;
}

void StackWriter::add(recorder::StackDetails stack, const ModuleMap& modules, recorder::Definitions& to) noexcept {
  for (const recorder::StackFrameDetails& frame : stack.native) {
    const MappedModule* const module = modules.find(frame.pc);
    if (module != nullptr && told_.emplace(module->begin, module->path).second) to.add_module(details_of(*module));
  }
  to.add_stack(std::move(stack));
}

}  // namespace plumbline::shim::stacks
