// What a dynamic loader would read from an ELF file.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace plumbline::tools {

struct ElfFile {
  bool dynamic = false;             // has a dynamic section: takes part in preloading, or can be loaded
  std::string interpreter;          // the loader that it asks for; empty in a library and in a static program
  std::vector<std::string> needed;  // libraries that it names
};

// Nothing when the file cannot be read or is no 64-bit ELF file.
std::optional<ElfFile> read_elf(const std::string& path);

}  // namespace plumbline::tools
