// A hash map from 64-bit keys for the joins that see hundreds of millions of insertions and erasures: open addressing
// with linear probing and backward-shift deletion, so that it never fills up with tombstones and, at a steady size,
// never allocates.
//
//   auto [entry, found] = map.insert(key);
//   if (!found) entry->value = …;
//   map.erase(entry);                  // pointers to entries live until the next insert() or erase()
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace plumbline::reader {

template <class Value>
class FlatMap {
 public:
  struct Entry {
    std::uint64_t key = 0;  // 0: empty
    Value value{};
  };

  FlatMap() : entries_(kInitial) {}

  // The entry of a key, and whether it was there before.
  std::pair<Entry*, bool> insert(std::uint64_t key) {
    key = stored(key);
    if (count_ * 2 >= entries_.size()) grow();
    std::size_t i = home_of(key);
    while (entries_[i].key != 0) {
      if (entries_[i].key == key) return {&entries_[i], true};
      i = (i + 1) & mask();
    }
    ++count_;
    entries_[i].key = key;
    return {&entries_[i], false};
  }

  Entry* find(std::uint64_t key) {
    key = stored(key);
    for (std::size_t i = home_of(key); entries_[i].key != 0; i = (i + 1) & mask())
      if (entries_[i].key == key) return &entries_[i];
    return nullptr;
  }

  void erase(Entry* entry) {
    auto hole = static_cast<std::size_t>(entry - entries_.data());
    // Whatever follows without a gap moves back when its own place is at or before the hole.
    for (std::size_t i = (hole + 1) & mask(); entries_[i].key != 0; i = (i + 1) & mask()) {
      if (((i - home_of(entries_[i].key)) & mask()) < ((i - hole) & mask())) continue;
      entries_[hole] = std::move(entries_[i]);
      hole = i;
    }
    entries_[hole] = Entry{};
    --count_;
  }

  void clear() {
    entries_.assign(kInitial, Entry{});
    count_ = 0;
  }

  std::size_t size() const { return count_; }

  template <class Visit>
  void for_each(Visit&& visit) const {
    for (const Entry& entry : entries_)
      if (entry.key != 0) visit(entry);
  }

 private:
  static constexpr std::size_t kInitial = 1024;
  // What stands for key 0, which means empty. A file that uses both mixes two of its own entries up.
  static constexpr std::uint64_t kForZero = 0x8000000000000001ull;

  static std::uint64_t stored(std::uint64_t key) { return key != 0 ? key : kForZero; }
  std::size_t mask() const { return entries_.size() - 1; }
  // Keys are addresses or running numbers, so neighbours: the multiplication spreads them.
  std::size_t home_of(std::uint64_t key) const {
    return static_cast<std::size_t>(key * 0x9e3779b97f4a7c15ull >> 32) & mask();
  }

  void grow() {
    std::vector<Entry> old(entries_.size() * 2);
    old.swap(entries_);
    for (Entry& entry : old) {
      if (entry.key == 0) continue;
      std::size_t i = home_of(entry.key);
      while (entries_[i].key != 0) i = (i + 1) & mask();
      entries_[i] = std::move(entry);
    }
  }

  std::vector<Entry> entries_;
  std::size_t count_ = 0;
};

}  // namespace plumbline::reader
