// Opens checkpoints that are cut at every byte and damaged in thousands of ways.
//
//   checkpoint_corruption [number of corruptions of each file]
//   checkpoint_corruption seeds DIRECTORY                    writes a first corpus for checkpoint_fuzz instead
//
// Nothing may crash (the sanitizers watch the rest), memory stays small, and every refusal names the file. Exit status
// 0 when all of that holds.
#include <sys/resource.h>

#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <string_view>

#include "reader/testing/records.hpp"
#include "tests/fuzz/checkpoint_everything.hpp"
#include "tests/fuzz/damage.hpp"

namespace {

using plumbline::fuzz::damaged;
namespace testing = plumbline::reader::testing;

int failures = 0;

void complain(const std::string& what) {
  if (++failures <= 10) std::fprintf(stderr, "checkpoint_corruption: %s\n", what.c_str());
}

void check(const std::string& path, const std::string& contents, bool must_open) {
  testing::write_file(path, std::string_view(contents));
  const auto outcome = plumbline::fuzz::read_checkpoint(path);
  if (must_open && !outcome.opened) complain("an undamaged file was refused: " + outcome.sentence);
  if (!outcome.opened && outcome.sentence.find(path) == std::string::npos)
    complain("no sentence that names " + path + ": '" + outcome.sentence + "'");
}

}  // namespace

int main(int argc, char** argv) {
  const auto seeds = plumbline::fuzz::checkpoint_seeds();
  if (argc == 3 && std::string_view(argv[1]) == "seeds") {
    for (const auto& [name, contents] : seeds)
      testing::write_file(std::string(argv[2]) + "/" + name, std::string_view(contents));
    return 0;
  }
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 2000;
  const testing::TempDir directory;
  std::mt19937 random(1);
  for (const auto& [name, contents] : seeds) {
    const std::string path = directory / name;
    check(path, contents, true);
    for (std::size_t size = 0; size < contents.size(); size += 1 + contents.size() / 500)
      check(path, contents.substr(0, size), false);
    for (int i = 0; i < rounds; ++i) check(path, damaged(contents, random), false);
  }
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  constexpr long kMostKib = 1 << 20;
  if (usage.ru_maxrss > kMostKib) complain("small damaged files took " + std::to_string(usage.ru_maxrss) + " KiB");
  if (failures != 0) std::fprintf(stderr, "checkpoint_corruption: %d failures\n", failures);
  return failures == 0 ? 0 : 1;
}
