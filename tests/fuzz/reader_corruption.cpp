// Runs the fuzzer's entry over a small trace that is cut at every byte and damaged in ten thousand ways, over frames
// whose contents are damaged under a right checksum, and over damaged ring files.
//
//   reader_corruption [number of corruptions]
//   reader_corruption seeds DIRECTORY           writes a first corpus for reader_fuzz instead
//
// Nothing may crash (the sanitizers watch), every failure has its sentence, and every frame that no damage touched must
// have been read. Exit status 0 when all of that holds.
#include <sys/wait.h>
#include <unistd.h>
#include <zstd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "reader/testing/records.hpp"
#include "recorder/recorder.hpp"
#include "tests/fuzz/read_everything.hpp"

namespace {

namespace testing = plumbline::reader::testing;
namespace recorder = plumbline::recorder;
using plumbline::fuzz::Outcome;
using plumbline::fuzz::read_everything;
using Bytes = std::vector<std::uint8_t>;

int failures = 0;

void complain(const std::string& what) {
  if (++failures <= 10) std::fprintf(stderr, "reader_corruption: %s\n", what.c_str());
}

struct FrameRange {
  std::size_t begin = 0;
  std::size_t end = 0;
  std::size_t rows = 0;
};

std::vector<FrameRange> frames_of(const Bytes& file, const Outcome& whole) {
  std::vector<FrameRange> frames;
  for (std::size_t at = 0; at < file.size();) {
    const std::size_t size = ZSTD_findFrameCompressedSize(file.data() + at, file.size() - at);
    if (ZSTD_isError(size)) break;
    const auto it = whole.by_frame.find(at);
    frames.push_back({at, at + size, it == whole.by_frame.end() ? 0 : it->second});
    at += size;
  }
  return frames;
}

// Empty for the seek table.
Bytes contents_of(const Bytes& file, const FrameRange& frame) {
  Bytes contents(1 << 20);
  const std::size_t size =
      ZSTD_decompress(contents.data(), contents.size(), file.data() + frame.begin, frame.end - frame.begin);
  contents.resize(ZSTD_isError(size) ? 0 : size);
  return contents;
}

// A change of a file: `removed` bytes at `at` give way to `inserted`.
struct Change {
  std::size_t at = 0;
  std::size_t removed = 0;
  Bytes inserted;
};

Change random_change(const Bytes& file, std::mt19937& random) {
  Change change;
  change.at = random() % file.size();
  const std::size_t length = 1 + random() % (random() % 4 == 0 ? 200 : 8);
  const std::size_t room = std::min(length, file.size() - change.at);
  switch (random() % 6) {
    case 0:  // one bit
      change.removed = 1;
      change.inserted = {static_cast<std::uint8_t>(file[change.at] ^ (1u << random() % 8))};
      break;
    case 1:  // zeros
      change.removed = room;
      change.inserted.assign(room, 0);
      break;
    case 2:  // noise
      change.removed = room;
      for (std::size_t i = 0; i < room; ++i) change.inserted.push_back(static_cast<std::uint8_t>(random()));
      break;
    case 3:  // a gap
      change.removed = room;
      break;
    case 4:  // something in between
      for (std::size_t i = 0; i < length; ++i) change.inserted.push_back(static_cast<std::uint8_t>(random()));
      break;
    default: {  // a piece of the file itself
      const std::size_t from = random() % file.size();
      const std::size_t n = std::min(length, file.size() - from);
      change.inserted.assign(file.begin() + static_cast<std::ptrdiff_t>(from),
                             file.begin() + static_cast<std::ptrdiff_t>(from + n));
    }
  }
  return change;
}

Bytes changed(const Bytes& file, const Change& change) {
  const auto at = file.begin() + static_cast<std::ptrdiff_t>(change.at);
  Bytes result(file.begin(), at);
  result.insert(result.end(), change.inserted.begin(), change.inserted.end());
  result.insert(result.end(), at + static_cast<std::ptrdiff_t>(change.removed), file.end());
  return result;
}

void expect_untouched_frames(const std::vector<FrameRange>& frames, const Change& change, const Outcome& outcome) {
  const std::size_t touched_end = change.at + std::max<std::size_t>(change.removed, 1);
  for (const FrameRange& frame : frames) {
    if (frame.rows == 0 || (frame.begin < touched_end && frame.end > change.at)) continue;
    const std::size_t now =
        frame.begin < change.at ? frame.begin : frame.begin + change.inserted.size() - change.removed;
    const auto it = outcome.by_frame.find(now);
    if (it == outcome.by_frame.end() || it->second != frame.rows)
      complain("an undamaged frame at byte " + std::to_string(frame.begin) + " was not read after a change at byte " +
               std::to_string(change.at) + " of " + std::to_string(change.removed) + " bytes");
  }
}

void check_sentence(const Outcome& outcome, const std::string& path) {
  if (!outcome.opened && outcome.sentence.find(path) == std::string::npos)
    complain("no sentence that names the file: '" + outcome.sentence + "'");
}

void truncate_everywhere(const std::string& path, const Bytes& file, const std::vector<FrameRange>& frames) {
  for (std::size_t size = 0; size < file.size(); ++size) {
    testing::write_file(path, std::span(file).first(size));
    const Outcome outcome = read_everything(path);
    check_sentence(outcome, path);
    expect_untouched_frames(frames, {size, file.size() - size, {}}, outcome);
  }
  std::printf("reader_corruption: cut at each of %zu bytes\n", file.size());
}

void damage_file(const std::string& path, const Bytes& file, const std::vector<FrameRange>& frames, int rounds) {
  std::mt19937 random(1);
  for (int i = 0; i < rounds; ++i) {
    const Change change = random_change(file, random);
    testing::write_file(path, changed(file, change));
    const Outcome outcome = read_everything(path);
    check_sentence(outcome, path);
    expect_untouched_frames(frames, change, outcome);
  }
  std::printf("reader_corruption: %d random corruptions of the file\n", rounds);
}

// Damage that the checksum does not show: of a frame's contents before they are compressed.
void damage_contents(const std::string& path, const Bytes& file, const std::vector<FrameRange>& frames, int rounds) {
  std::mt19937 random(2);
  for (int i = 0; i < rounds; ++i) {
    const FrameRange& frame = frames[random() % frames.size()];
    const Bytes contents = contents_of(file, frame);
    if (contents.empty()) continue;
    const Bytes damaged = changed(contents, random_change(contents, random));
    Bytes compressed(ZSTD_compressBound(damaged.size()));
    compressed.resize(ZSTD_compress(compressed.data(), compressed.size(), damaged.data(), damaged.size(), 1));
    testing::write_file(path, changed(file, {frame.begin, frame.end - frame.begin, compressed}));
    check_sentence(read_everything(path), path);
  }
  std::printf("reader_corruption: %d random corruptions of frames' contents\n", rounds);
}

void record_and_die(const std::string& directory) {
  recorder::Settings settings;
  settings.run_directory = directory;
  settings.ring_bytes = 16 << 10;
  settings.memory_bytes = 32 << 10;
  settings.flush_ms = 3'600'000;
  recorder::start(settings);
  recorder::promote("collective");
  recorder::define_group("0", "default_pg", "gloo", "0,1", 0, 2, 0);
  recorder::fact("key", "value");
  for (std::uint64_t i = 1; i < 60; ++i) {
    recorder::push(testing::alloc(recorder::now_ns(), i << 12, i).header);
    recorder::push(testing::collective({.time_ns = recorder::now_ns(), .id = i, .seq = i}).header);
    recorder::push(testing::step_begin(recorder::now_ns(), i, recorder::text_id("AdamW")).header);
  }
  kill(getpid(), SIGKILL);
}

// The ring file of a process that died before its first flush.
std::string write_ring(const std::string& directory) {
  const pid_t child = fork();
  if (child == 0) record_and_die(directory);
  waitpid(child, nullptr, 0);
  for (const auto& entry : std::filesystem::directory_iterator(directory))
    if (entry.path().extension() == ".ring") return entry.path().string();
  return {};
}

void damage_ring(const std::string& directory, int rounds) {
  const std::string path = write_ring(directory);
  const Bytes file = testing::read_file(path);
  if (file.empty() || read_everything(directory).ring_rows < 150) return complain("the ring was not read");
  std::mt19937 random(3);
  std::FILE* const ring = std::fopen(path.c_str(), "r+b");
  const auto put = [&](std::size_t at, std::span<const std::uint8_t> bytes) {
    std::fseek(ring, static_cast<long>(at), SEEK_SET);
    std::fwrite(bytes.data(), 1, bytes.size(), ring);
    std::fflush(ring);
  };
  for (int i = 0; i < rounds; ++i) {
    // Most of the file is never touched: the headers and the first slots are what counts.
    const std::size_t at = random() % std::min<std::size_t>(file.size() - 8, 12 << 10);
    Bytes noise(1 + random() % 8);
    for (std::uint8_t& byte : noise) byte = random() % 3 == 0 ? 0xff : static_cast<std::uint8_t>(random());
    put(at, noise);
    check_sentence(read_everything(directory), directory);
    put(at, std::span(file).subspan(at, noise.size()));
  }
  std::fclose(ring);
  std::printf("reader_corruption: %d random corruptions of a ring file\n", rounds);
}

// The first byte is reader_fuzz's choice of what follows.
int write_seeds(const std::string& to) {
  const testing::TempDir directory;
  const Bytes file = testing::read_file(testing::write_small_trace(directory.path()));
  Bytes ring = testing::read_file(write_ring(directory / "ring"));
  ring.resize(std::min<std::size_t>(ring.size(), 48 << 10));
  testing::write_file(to + "/trace", changed(file, {0, 0, {0}}));
  testing::write_file(to + "/ring", changed(ring, {0, 0, {1}}));
  for (const FrameRange& frame : frames_of(file, {})) {
    const Bytes contents = contents_of(file, frame);
    testing::write_file(to + "/frame" + std::to_string(frame.begin), changed(contents, {0, 0, {2}}));
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 3 && std::string_view(argv[1]) == "seeds") return write_seeds(argv[2]);
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 10'000;
  const testing::TempDir directory;
  const std::string written = testing::write_small_trace(directory.path());
  const Bytes file = testing::read_file(written);
  const Outcome whole = read_everything(written);
  const std::vector<FrameRange> frames = frames_of(file, whole);
  if (!whole.opened || whole.by_frame.size() < 2 || frames.size() < 4) complain("the undamaged trace was not read");
  const std::string path = directory / "damaged.plt";
  truncate_everywhere(path, file, frames);
  damage_file(path, file, frames, rounds);
  damage_contents(path, file, frames, rounds / 4);
  damage_ring(directory / "ring", rounds / 4);
  if (failures != 0) std::fprintf(stderr, "reader_corruption: %d failures\n", failures);
  return failures == 0 ? 0 : 1;
}
