// Checks runs whose files of captures are cut and damaged in thousands of ways, as they lie on disk and below their
// compression.
//
//   capture_corruption [number of corruptions of each kind]
//
// Nothing may crash (the sanitizers watch the rest), and no check of captures passes unless every captured element is
// what it was. Below the compression, where no checksum tells of the damage, nothing may crash. Exit status 0 when all
// of that holds.
#include <sys/resource.h>
#include <zstd.h>

#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>

#include "checks/check.hpp"
#include "checks/testing/fake_rank.hpp"
#include "checks/testing/toy_training.hpp"
#include "tests/fuzz/damage.hpp"

namespace {

using plumbline::checks::Check;
using plumbline::checks::Status;
using plumbline::checks::Subject;
using plumbline::reader::Run;
namespace testing = plumbline::reader::testing;
namespace jobs = plumbline::checks::testing;

int failures = 0;

void complain(const std::string& what) {
  if (++failures <= 10) std::fprintf(stderr, "capture_corruption: %s\n", what.c_str());
}

// Two replicas that train alike.
void write_run(const std::string& directory) {
  for (const int rank : {0, 1}) {
    jobs::FakeRank trace(directory, rank, 2);
    for (const int step : {0, 1}) trace.step(10 * step + 1, 10 * step + 2);
    trace.exit(0);
    jobs::ToyTraining toy;
    toy.rank = rank;
    toy.steps = 2;
    toy.elements = 8;
    toy.replicas = {0, 1};
    toy.hashed = true;
    toy.write(directory);
  }
}

// All that was captured, in the order of ranks and time.
std::string told(plumbline::reader::RunCaptures& captures) {
  std::string all;
  for (plumbline::reader::CaptureFile& file : captures.files()) {
    for (const plumbline::reader::Capture& capture : file.captures()) {
      const auto bytes = file.load(capture);
      all += std::to_string(capture.rank) + ' ' + capture.probe + ' ' + capture.name + ' ' +
             std::to_string(capture.step) + ' ' + capture.detail + ' ' + std::string(bytes.begin(), bytes.end()) + '\n';
    }
  }
  return all;
}

struct Look {
  std::string told;
  int passed = 0;
};

Look look_at(const Run& run) {
  const Subject subject(run);
  Look look;
  for (const Check& check : plumbline::checks::all_checks()) {
    if (check.of_captures && evaluate(check, subject).status == Status::kPass) ++look.passed;
  }
  look.told = told(subject.captures());
  return look;
}

std::string below_compression(const std::string& file) {
  std::string contents;
  for (std::size_t at = 0; at < file.size();) {
    const std::size_t frame = ZSTD_findFrameCompressedSize(file.data() + at, file.size() - at);
    const auto size = ZSTD_getFrameContentSize(file.data() + at, frame);
    if (ZSTD_isError(frame) || size == ZSTD_CONTENTSIZE_ERROR || size == ZSTD_CONTENTSIZE_UNKNOWN) break;
    std::string part(size, '\0');
    if (ZSTD_isError(ZSTD_decompress(part.data(), part.size(), file.data() + at, frame))) break;
    contents += part;
    at += frame;
  }
  return contents;
}

std::string compressed(const std::string& contents) {
  std::string frame(ZSTD_compressBound(contents.size()), '\0');
  frame.resize(ZSTD_compress(frame.data(), frame.size(), contents.data(), contents.size(), 1));
  return frame;
}

}  // namespace

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 500;
  const testing::TempDir directory;
  write_run(directory.path());
  const std::string path = directory / "captures/rank0.plc";
  const auto bytes = testing::read_file(path);
  const std::string whole(bytes.begin(), bytes.end());
  const std::string contents = below_compression(whole);
  const Run run = testing::open_run(directory.path());
  const Look good = look_at(run);
  if (good.passed == 0) complain("no check passes on the undamaged run");
  if (contents.empty()) complain("nothing lies below the compression");

  const auto check_damaged = [&](const std::string& file) {
    testing::write_file(path, std::string_view(file));
    const Look look = look_at(run);
    if (look.passed > 0 && look.told != good.told) complain("a check passed on damaged captures");
  };
  std::mt19937 random(1);
  for (std::size_t size = 0; size < whole.size(); size += 1 + whole.size() / 200) check_damaged(whole.substr(0, size));
  for (int i = 0; i < rounds; ++i) check_damaged(plumbline::fuzz::damaged(whole, random));
  for (int i = 0; i < rounds; ++i) {
    const std::string file = compressed(plumbline::fuzz::damaged(contents, random));
    testing::write_file(path, std::string_view(file));
    look_at(run);
  }

  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  constexpr long kMostKib = 1 << 20;
  if (usage.ru_maxrss > kMostKib) complain("small damaged files took " + std::to_string(usage.ru_maxrss) + " KiB");
  if (failures != 0) std::fprintf(stderr, "capture_corruption: %d failures\n", failures);
  return failures == 0 ? 0 : 1;
}
