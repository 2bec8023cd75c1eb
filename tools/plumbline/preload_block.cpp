#include "tools/plumbline/preload_block.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/xattr.h>

#include "tools/plumbline/elf_file.hpp"

namespace plumbline::tools {

std::string preload_block(const std::string& program) {
  struct stat status {};
  if (stat(program.c_str(), &status) != 0) return fmt::format("{} cannot be looked at", program);
  if ((status.st_mode & (S_ISUID | S_ISGID)) != 0) {
    return fmt::format("{} is set-user-ID or set-group-ID: the loader preloads nothing into it", program);
  }
  if (getxattr(program.c_str(), "security.capability", nullptr, 0) > 0) {
    return fmt::format("{} has file capabilities: the loader preloads nothing into it", program);
  }
  const auto elf = read_elf(program);
  if (elf && elf->interpreter.empty()) return fmt::format("{} is a static program: nothing can be preloaded", program);
  return "";
}

}  // namespace plumbline::tools
