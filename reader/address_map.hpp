// From an address to what was allocated there: open addressing with linear probing and backward-shift deletion, so that
// a table that sees hundreds of millions of insertions and erasures never fills up with tombstones.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace plumbline::reader {

class AddressMap {
 public:
  struct Entry {
    std::uint64_t key = 0;  // 0: empty
    std::uint64_t size = 0;
    std::uint64_t time_ns = 0;
    std::uint64_t tag = 0;
  };

  AddressMap() : entries_(kInitial) {}

  // The entry of a key, made empty-handed (found = false) when it was not there. Key 0 is not allowed.
  std::pair<Entry*, bool> insert(std::uint64_t key) {
    if (count_ * 2 >= entries_.size()) grow();
    std::size_t i = slot_of(key);
    while (entries_[i].key != 0) {
      if (entries_[i].key == key) return {&entries_[i], true};
      i = (i + 1) & mask();
    }
    ++count_;
    entries_[i].key = key;
    return {&entries_[i], false};
  }

  Entry* find(std::uint64_t key) {
    for (std::size_t i = slot_of(key); entries_[i].key != 0; i = (i + 1) & mask())
      if (entries_[i].key == key) return &entries_[i];
    return nullptr;
  }

  void erase(Entry* entry);

  std::size_t size() const { return count_; }

  template <class Visit>
  void for_each(Visit&& visit) const {
    for (const Entry& entry : entries_)
      if (entry.key != 0) visit(entry);
  }

 private:
  static constexpr std::size_t kInitial = 1024;
  std::size_t mask() const { return entries_.size() - 1; }
  // Addresses are multiples of 16 or more with near neighbours: the multiplication spreads them, the high bits count.
  std::size_t slot_of(std::uint64_t key) const {
    return static_cast<std::size_t>(key * 0x9e3779b97f4a7c15ull >> 32) & mask();
  }
  void grow();

  std::vector<Entry> entries_;
  std::size_t count_ = 0;
};

}  // namespace plumbline::reader
