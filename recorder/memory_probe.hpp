// How much memory the process and its cgroup use. The files are opened for each reading: a descriptor that is kept for
// days might be closed by the job, and its number be something else's by then.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace plumbline::recorder {

class MemoryProbe {
 public:
  MemoryProbe();

  std::optional<std::uint64_t> resident_bytes() const;
  // Of the innermost cgroup with a memory controller, v2 or v1; nothing at the root cgroup.
  std::optional<std::uint64_t> cgroup_bytes() const;
  // Processes of that cgroup, and of those below it, that were killed for lack of memory since it was made.
  std::optional<std::uint64_t> cgroup_oom_kills() const;

 private:
  std::string cgroup_file_;
};

}  // namespace plumbline::recorder
