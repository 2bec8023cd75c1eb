// Where the ranks of a stand-in communicator meet: one shared file, mapped by all of them.
//
// It holds a barrier, what each rank announced for the collective in progress, an outbox a rank for its input, and a
// box for each ordered pair of ranks, which carries one message at a time. The file is sparse; the last rank to enter
// removes its name, so nothing is left behind.
#pragma once

#include <nccl.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>

namespace plumbline::standin {

inline constexpr int kMostRanks = 16;
inline constexpr std::size_t kOutboxBytes = std::size_t{64} << 20;
inline constexpr std::size_t kBoxBytes = std::size_t{16} << 20;

// What a rank is about to do. All ranks must announce the same, but for `color` and `key`.
struct Announcement {
  std::int32_t what;
  std::int32_t datatype;
  std::int32_t reduce;
  std::int32_t root;
  std::uint64_t count;
  std::int32_t color;
  std::int32_t key;
};

struct Box {
  std::atomic<std::uint64_t> sent;
  std::atomic<std::uint64_t> taken;
  std::uint64_t count;
  std::int32_t datatype;
};

struct Control {
  std::atomic<std::uint32_t> entered;
  std::atomic<std::uint32_t> arrived;
  std::atomic<std::uint32_t> phase;
  std::atomic<std::uint32_t> broken;  // a rank aborted or gave up
  Announcement announcements[kMostRanks];
  Box boxes[kMostRanks][kMostRanks];  // [from][to]
};

class Room {
 public:
  // Makes an empty file with a fresh name, which is the unique id.
  static std::string make_path();

  Room() = default;
  Room(const Room&) = delete;
  Room& operator=(const Room&) = delete;
  ~Room();

  // Maps the file and waits for all ranks.
  ncclResult_t enter(const std::string& path, int rank, int size);

  // Waits until all ranks have come here; ncclRemoteError when one of them will not.
  ncclResult_t meet();

  // Waits a moment inside a loop; false when there is nothing left to wait for (broken, or the time is up).
  bool keep_waiting(unsigned& turns);

  void break_up() { control().broken = 1; }

  Control& control() { return *static_cast<Control*>(base_); }
  Announcement& announcement(int rank) { return control().announcements[rank]; }
  std::byte* outbox(int rank);
  std::byte* box(int from, int to);
  const std::string& path() const { return path_; }

 private:
  std::size_t bytes() const;

  std::string path_;
  int rank_ = 0;
  int size_ = 0;
  void* base_ = nullptr;
};

}  // namespace plumbline::standin
