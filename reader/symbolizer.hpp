// Names for native frames, from the files that were mapped in the process, as far as this machine has them too.
//
//   Symbolizer symbolizer;
//   for (Stack stack : definitions.stacks) symbolizer.resolve(definitions.modules, stack);
//
// A frame's file becomes the module's path, its function a demangled name. A file whose build id differs from that of
// the process is not the one that was mapped: its frames get no name rather than a wrong one.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "reader/elf_symbols.hpp"
#include "reader/stacks.hpp"

namespace plumbline::reader {

class Symbolizer {
 public:
  // Frames that have a function already are left as they are.
  void resolve(const std::vector<Module>& modules, Stack& stack);

  // Files that are missing here, or are others than those of the process.
  const std::set<std::string>& missing() const { return missing_; }
  const std::set<std::string>& changed() const { return changed_; }

 private:
  const ElfSymbols* symbols_of(const Module& module);

  std::map<std::string, std::optional<ElfSymbols>> files_;
  std::set<std::string> missing_;
  std::set<std::string> changed_;
};

}  // namespace plumbline::reader
