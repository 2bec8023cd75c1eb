// How fast updates are computed anew: the optimizer check over captures of AdamW in float32, from the page cache.
//
//   optimizer_bench [millions of parameters]      quick: a few, to see that it runs
//
// Prints the bytes of captured tensors (parameter, gradient and state, before and after) a second of CPU time, that is
// a core.
#include <sys/resource.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "checks/optimizer.hpp"
#include "checks/testing/fake_rank.hpp"
#include "checks/testing/toy_training.hpp"

namespace {

using plumbline::checks::OptimizerMargins;
using plumbline::checks::Status;
using plumbline::checks::Subject;

double cpu_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

void measure(const std::string& directory) {
  const auto start = std::chrono::steady_clock::now();
  const double before = cpu_seconds();
  const auto run = plumbline::reader::testing::open_run(directory);
  OptimizerMargins margins;
  const auto verdict = check_optimizer(Subject(run), margins);
  const double cpu = cpu_seconds() - before;
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  if (verdict.status != Status::kPass) {
    std::fprintf(stderr, "the check did not pass: %s\n", verdict.reason.c_str());
    std::exit(1);
  }
  const auto bytes = static_cast<double>(margins.bytes);
  std::printf("%zu updates, %.0f MB of captures: %.0f MB/s a core, %.2f s\n", margins.tensors, bytes / 1e6,
              bytes / 1e6 / cpu, took.count());
}

}  // namespace

int main(int argc, char** argv) {
  const bool quick = argc > 1 && std::string_view(argv[1]) == "quick";
  const std::size_t millions = quick || argc < 2 ? 1 : std::strtoull(argv[1], nullptr, 10);
  const plumbline::reader::testing::TempDir directory;
  plumbline::checks::testing::FakeRank rank(directory.path(), 0, 1);
  rank.step(1, 2);
  rank.exit(0);
  plumbline::checks::testing::ToyTraining toy;
  toy.steps = 8;
  toy.hashed = true;
  toy.elements = millions * 1'000'000;
  toy.write(directory.path());
  measure(directory.path());
  measure(directory.path());
  return 0;
}
