#include "shim/c10d/groups.hpp"

#include <cstdio>

#include "recorder/recorder.hpp"

namespace plumbline::shim {

Groups::Entry& Groups::entry_of(std::uint64_t key) noexcept {
  for (std::size_t i = 0; i + 1 < kEntries; ++i) {
    Entry& entry = entries_[(key * 0x9e3779b97f4a7c15u % (kEntries - 1) + i) % (kEntries - 1)];
    std::uint64_t holder = entry.key.load(std::memory_order_acquire);
    if (holder == 0 && entry.key.compare_exchange_strong(holder, key, std::memory_order_acq_rel)) return entry;
    if (holder == key) return entry;
  }
  return entries_[kEntries - 1];
}

void Groups::name(Entry& entry, const void* backend, const char* backend_name) noexcept {
  char name[64];
  std::snprintf(name, sizeof name, "%s#%u", backend_name, unnamed_.fetch_add(1, std::memory_order_relaxed));
  entry.group.store(recorder::define_group(name, "the torch adapter could not name it", backend_name, "", -1, 0,
                                           reinterpret_cast<std::uint64_t>(backend)),
                    std::memory_order_relaxed);
}

Groups::Call Groups::next(std::uint64_t group, const void* backend, const char* backend_name,
                          bool point_to_point) noexcept {
  Entry& entry = entry_of(group != 0 ? group : reinterpret_cast<std::uint64_t>(backend));
  if (group == 0) {
    if (entry.group.load(std::memory_order_relaxed) == 0) name(entry, backend, backend_name);
    group = entry.group.load(std::memory_order_relaxed);
  }
  auto& counter = point_to_point ? entry.point_to_points : entry.collectives;
  return {group, counter.fetch_add(1, std::memory_order_relaxed)};
}

}  // namespace plumbline::shim
