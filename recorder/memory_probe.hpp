// Reads how much memory the process and its cgroup use, from descriptors that stay open.
#pragma once

#include <cstdint>
#include <optional>

namespace plumbline::recorder {

class MemoryProbe {
 public:
  MemoryProbe();
  ~MemoryProbe();
  MemoryProbe(const MemoryProbe&) = delete;
  MemoryProbe& operator=(const MemoryProbe&) = delete;

  std::optional<std::uint64_t> resident_bytes() const;
  // Of the innermost cgroup with a memory controller, v2 or v1; nothing at the root cgroup.
  std::optional<std::uint64_t> cgroup_bytes() const;

 private:
  int statm_ = -1;
  int cgroup_ = -1;
};

}  // namespace plumbline::recorder
