#include "recorder/captures.hpp"

#include <pthread.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <string_view>

#include "recorder/capture_writer.hpp"
#include "recorder/clock.hpp"
#include "recorder/log.hpp"
#include "recorder/mutex_lock.hpp"
#include "recorder/process_names.hpp"
#include "recorder/recorder.hpp"
#include "recorder/run_directory.hpp"

namespace plumbline::recorder {
namespace {

enum class State { kOff, kEnabled, kOpen, kEnded };

struct Captures {
  State state = State::kOff;
  std::string directory;
  Level level = Level::kWatch;
  std::uint64_t max_bytes = 0;
  CaptureWriter* writer = nullptr;
};

pthread_mutex_t g_lock = PTHREAD_MUTEX_INITIALIZER;
// Never destroyed: a thread may capture during static destruction.
Captures& captures() {
  static auto* made = new Captures;
  return *made;
}

void end(Captures& c, const std::string& why) {
  c.state = State::kEnded;
  log().line(why + "; no more tensors are captured in this process");
}

std::optional<std::string> open_file(Captures& c) {
  const std::string folder = c.directory + "/captures";
  if (mkdir(folder.c_str(), 0755) != 0 && errno != EEXIST)
    return "cannot create " + folder + ": " + std::strerror(errno);
  Identity identity = identify_process();
  if (const std::int32_t rank = rank_from_groups(); rank >= 0) identity.rank = rank;
  c.writer = new CaptureWriter;
  const ProcessStart start{monotonic_ns(), realtime_ns()};
  auto error = c.writer->create(folder + "/" + trace_stem(identity) + ".plc", identity, start, c.level);
  // So that a reader can tell captures that are gone from those that never were.
  if (!error) fact("captures.file", std::string_view(c.writer->path()).substr(c.directory.size() + 1));
  return error;
}

}  // namespace

void enable_captures(const std::string& directory, Level level, std::uint64_t max_bytes) noexcept {
  const MutexLock lock(g_lock);
  Captures& c = captures();
  if (c.state != State::kOff) return;
  c.directory = directory;
  c.level = level;
  c.max_bytes = max_bytes;
  c.state = State::kEnabled;
}

bool capture(const Capture& capture) noexcept {
  const MutexLock lock(g_lock);
  Captures& c = captures();
  if (c.state == State::kEnabled) {
    if (const auto error = open_file(c)) {
      end(c, *error);
      return false;
    }
    c.state = State::kOpen;
  }
  if (c.state != State::kOpen) return false;
  if (c.writer->bytes() + capture.data_bytes > c.max_bytes) {
    const auto error = c.writer->finish();
    end(c, error ? *error : c.writer->path() + " has reached its size (PLUMBLINE_CAPTURE_MAX_MB)");
    return false;
  }
  if (const auto error = c.writer->add(capture)) {
    end(c, *error);
    return false;
  }
  return true;
}

void flush_captures() noexcept {
  const MutexLock lock(g_lock);
  Captures& c = captures();
  if (c.state != State::kOpen) return;
  if (const auto error = c.writer->flush()) end(c, *error);
}

void finish_captures() noexcept {
  const MutexLock lock(g_lock);
  Captures& c = captures();
  if (c.state == State::kOpen) {
    if (const auto error = c.writer->finish()) end(c, *error);
  }
  c.state = State::kEnded;
}

void forget_captures() noexcept {
  pthread_mutex_init(&g_lock, nullptr);
  Captures& c = captures();
  // The parent's writer stays behind: its descriptor is closed with the child, its memory is the child's copy.
  c.writer = nullptr;
  c.state = State::kOff;
}

}  // namespace plumbline::recorder
