#include "reader/symbolizer.hpp"

#include <algorithm>

namespace plumbline::reader {

const ElfSymbols* Symbolizer::symbols_of(const Module& module) {
  const auto [entry, fresh] = files_.try_emplace(module.path);
  if (fresh) {
    auto opened = ElfSymbols::open(module.path);
    if (opened.ok())
      entry->second = std::move(*opened);
    else if (!module.path.starts_with('['))  // [vdso] has no file
      missing_.insert(module.path);
  }
  if (!entry->second) return nullptr;
  if (entry->second->build_id() == module.build_id) return &*entry->second;
  changed_.insert(module.path);
  return nullptr;
}

void Symbolizer::resolve(const std::vector<Module>& modules, Stack& stack) {
  for (StackFrame& frame : stack.native) {
    if (frame.pc == 0 || !frame.function.empty()) continue;
    // The latest one: a library may have gone and another have come to its place.
    const auto module = std::find_if(modules.rbegin(), modules.rend(),
                                     [&](const Module& one) { return frame.pc >= one.begin && frame.pc < one.end; });
    if (module == modules.rend()) continue;
    frame.file = module->path;
    if (const ElfSymbols* const symbols = symbols_of(*module))
      frame.function = demangled(symbols->function_at(frame.pc - module->begin + module->file_offset));
  }
}

}  // namespace plumbline::reader
