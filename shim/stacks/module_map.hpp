// What is mapped for execution in this process, by its own maps file and the ELF headers in memory.
//
// The loader's list would say the same, but asking for it takes the loader's lock, and a thread that hangs inside
// dlopen holds that. So it is not asked.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "recorder/stacks.hpp"
#include "shim/stacks/stack_memory.hpp"

namespace plumbline::shim::stacks {

struct MappedModule {
  Address begin = 0;  // of a stretch that is mapped for execution
  Address end = 0;
  std::uint64_t file_offset = 0;
  std::string path;
  Address image = 0;  // where the file's first page is mapped; 0 not known
};

class ModuleMap {
 public:
  // Reads the maps of the process.
  void refresh() noexcept;
  // From the text of a maps file, for tests.
  void parse(std::string_view maps) noexcept;

  // The stretch around an address, null when nothing executable is there.
  const MappedModule* find(Address pc) const noexcept;
  const std::vector<MappedModule>& modules() const noexcept { return modules_; }

 private:
  void parse_line(std::string_view line) noexcept;

  std::vector<MappedModule> modules_;
  std::string image_path_;
  Address image_ = 0;
};

// What a module's ELF headers say, as they lie in memory.
struct ElfFacts {
  Address frame_header = 0;  // of .eh_frame_hdr, 0 none
  std::string build_id;      // hexadecimal
};
ElfFacts read_elf(Address image) noexcept;

recorder::ModuleDetails details_of(const MappedModule& module) noexcept;

}  // namespace plumbline::shim::stacks
