// How fast and how frugal `run-reader diagnose` is on a large run that hangs.
//
//   diagnose_bench write DIR [ranks] [collectives a rank]
//   diagnose_bench read DIR                                 each part of the work, and its peak of memory
//   diagnose_bench quick                                    a small one, and that it names the right rank
#include <malloc.h>
#include <sys/resource.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <string>
#include <string_view>

#include "checks/diagnosis.hpp"
#include "reader/run.hpp"
#include "tests/bench/hung_run.hpp"

namespace {

using plumbline::bench::HungRun;
namespace checks = plumbline::checks;
namespace reader = plumbline::reader;

class Stopwatch {
 public:
  explicit Stopwatch(bool quiet) : quiet_(quiet) {}
  // Since the last lap, by the clock on the wall and by all cores.
  void lap(std::string_view what) {
    const auto now = std::chrono::steady_clock::now();
    const double cpu = static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    if (!quiet_) {
      std::printf("%-20.*s %6.2f s, %6.2f s of CPU, at most %4ld MiB\n", static_cast<int>(what.size()), what.data(),
                  std::chrono::duration<double>(now - last_).count(), cpu - last_cpu_, usage.ru_maxrss / 1024);
    }
    last_ = now;
    last_cpu_ = cpu;
  }

 private:
  bool quiet_;
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
  double last_cpu_ = static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
};

checks::Diagnosis diagnose(const std::string& directory, bool quiet) {
  Stopwatch total(quiet);
  Stopwatch watch(quiet);
  const reader::Result<reader::Run> run = reader::Run::open(directory);
  if (!run.ok()) return {};
  watch.lap("open");
  const checks::Subject subject(*run);
  subject.summaries();
  watch.lap("read");
  subject.clock();
  watch.lap("clocks");
  std::string before;
  checks::Diagnosis diagnosis = checks::diagnose(subject, [&](std::string_view check) {
    if (!before.empty()) watch.lap(before);
    before = check;
  });
  watch.lap(before);
  total.lap("total");
  return diagnosis;
}

int write(const std::string& directory, const HungRun& run) {
  std::filesystem::create_directories(directory);
  const std::string error = plumbline::bench::write_hung_run(directory, run);
  if (!error.empty()) std::fprintf(stderr, "%s\n", error.c_str());
  return error.empty() ? 0 : 1;
}

int read(const std::string& directory) {
  const checks::Diagnosis diagnosis = diagnose(directory, false);
  const checks::Finding* root = diagnosis.root();
  std::printf("%s\n", root != nullptr ? root->title.c_str() : "nothing was found");
  return root != nullptr ? 0 : 1;
}

int quick() {
  std::string name = (std::filesystem::temp_directory_path() / "plumbline-hang-XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) return 1;
  const HungRun run{.ranks = 64, .tensor = 4, .pipeline = 4, .expert = 2, .collectives = 2000, .guilty = 21};
  bool right = write(name, run) == 0;
  if (right) {
    const checks::Diagnosis diagnosis = diagnose(name, true);
    const checks::Finding* root = diagnosis.root();
    right = root != nullptr && root->ranks == std::vector<std::int32_t>{21} && root->affected.size() == 63 &&
            root->place.group_ranks == plumbline::bench::tensor_group_of(run, 21);
    std::printf("%s\n", root != nullptr ? root->title.c_str() : "nothing was found");
  }
  std::filesystem::remove_all(name);
  return right ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  // As run-reader does.
  constexpr int kLarge = 256 << 20;
  mallopt(M_MMAP_THRESHOLD, kLarge);
  mallopt(M_TRIM_THRESHOLD, kLarge);
  const std::string_view what = argc > 1 ? argv[1] : "";
  if (what == "quick") return quick();
  if (what == "read" && argc > 2) return read(argv[2]);
  if (what != "write" || argc < 3) return 2;
  HungRun run;
  if (argc > 3) run.ranks = std::atoi(argv[3]);
  if (argc > 4) run.collectives = static_cast<std::uint64_t>(std::atoll(argv[4]));
  run.guilty = run.ranks / 3;
  return write(argv[2], run);
}
