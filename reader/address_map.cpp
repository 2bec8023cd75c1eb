#include "reader/address_map.hpp"

namespace plumbline::reader {

void AddressMap::erase(Entry* entry) {
  std::size_t hole = static_cast<std::size_t>(entry - entries_.data());
  // Whatever follows without a gap moves back when its own place is at or before the hole.
  for (std::size_t i = (hole + 1) & mask(); entries_[i].key != 0; i = (i + 1) & mask()) {
    const std::size_t home = slot_of(entries_[i].key);
    if (((i - home) & mask()) >= ((i - hole) & mask())) {
      entries_[hole] = entries_[i];
      hole = i;
    }
  }
  entries_[hole] = {};
  --count_;
}

void AddressMap::grow() {
  std::vector<Entry> old(entries_.size() * 2);
  old.swap(entries_);
  for (const Entry& entry : old) {
    if (entry.key == 0) continue;
    std::size_t i = slot_of(entry.key);
    while (entries_[i].key != 0) i = (i + 1) & mask();
    entries_[i] = entry;
  }
}

}  // namespace plumbline::reader
