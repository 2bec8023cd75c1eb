#include "tests/standin/room.hpp"

#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <thread>

namespace plumbline::standin {
namespace {

constexpr std::size_t kControlBytes = (sizeof(Control) + 4095) / 4096 * 4096;

double patience_in_seconds() {
  const char* seconds = std::getenv("PLUMBLINE_STANDIN_TIMEOUT_S");
  return seconds != nullptr ? std::atof(seconds) : 60;
}

// Yields at first; then sleeps, since there may be fewer cores than ranks.
void pause(unsigned turns) {
  if (turns < 200) {
    ::sched_yield();
  } else {
    std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
}

}  // namespace

std::string Room::make_path() {
  const char* directory = std::getenv("TMPDIR");
  std::string path = std::string(directory != nullptr ? directory : "/tmp") + "/nccl-standin-XXXXXX";
  const int file = ::mkstemp(path.data());
  if (file >= 0) ::close(file);
  return file >= 0 ? path : "";
}

Room::~Room() {
  if (base_ != nullptr) ::munmap(base_, bytes());
}

std::size_t Room::bytes() const {
  const auto size = static_cast<std::size_t>(size_);
  return kControlBytes + size * kOutboxBytes + size * size * kBoxBytes;
}

ncclResult_t Room::enter(const std::string& path, int rank, int size) {
  path_ = path;
  rank_ = rank;
  size_ = size;
  const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (file < 0) return ncclSystemError;
  void* mapped = MAP_FAILED;
  if (::ftruncate(file, static_cast<off_t>(bytes())) == 0) {
    mapped = ::mmap(nullptr, bytes(), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, file, 0);
  }
  ::close(file);
  if (mapped == MAP_FAILED) return ncclSystemError;
  base_ = mapped;
  const bool last = control().entered.fetch_add(1) + 1 == static_cast<std::uint32_t>(size);
  if (last) ::unlink(path.c_str());
  return meet();
}

ncclResult_t Room::meet() {
  const std::uint32_t phase = control().phase.load();
  if (control().arrived.fetch_add(1) + 1 == static_cast<std::uint32_t>(size_)) {
    control().arrived = 0;
    control().phase.fetch_add(1);
    return ncclSuccess;
  }
  unsigned turns = 0;
  while (control().phase.load() == phase && keep_waiting(turns)) {
  }
  return control().phase.load() != phase ? ncclSuccess : ncclRemoteError;
}

bool Room::keep_waiting(unsigned& turns) {
  constexpr double kSecondsPerTurn = 50e-6;
  if (control().broken.load() != 0) return false;
  pause(turns);
  if (++turns * kSecondsPerTurn <= patience_in_seconds()) return true;
  break_up();
  return false;
}

std::byte* Room::outbox(int rank) {
  return static_cast<std::byte*>(base_) + kControlBytes + static_cast<std::size_t>(rank) * kOutboxBytes;
}

std::byte* Room::box(int from, int to) {
  return outbox(size_) + static_cast<std::size_t>(from * size_ + to) * kBoxBytes;
}

}  // namespace plumbline::standin
