// Imports files of every kind that are cut at every byte and damaged in thousands of ways.
//
//   import_corruption [number of corruptions of each file]
//   import_corruption seeds DIRECTORY                      writes a first corpus for import_fuzz instead
//
// Nothing may crash or take more memory than the limit that is set here (the sanitizers watch the rest), and every
// failure has its sentence that names the file. Exit status 0 when all of that holds.
#include <sys/resource.h>

#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <string_view>

#include "reader/testing/records.hpp"
#include "tests/fuzz/damage.hpp"
#include "tests/fuzz/import_everything.hpp"
#include "tests/fuzz/import_seeds.hpp"

namespace {

using plumbline::fuzz::damaged;
using plumbline::fuzz::ImportOutcome;
using plumbline::fuzz::ImportSeed;
namespace testing = plumbline::reader::testing;

int failures = 0;

void complain(const std::string& what) {
  if (++failures <= 10) std::fprintf(stderr, "import_corruption: %s\n", what.c_str());
}

void check(const std::string& path, const std::string& contents, bool must_import) {
  testing::write_file(path, std::string_view(contents));
  const ImportOutcome outcome = plumbline::fuzz::import_everything(path);
  if (must_import && (!outcome.imported || !outcome.sentence.empty()))
    complain("an undamaged file was not imported whole: " + outcome.sentence);
  if (!outcome.imported && outcome.sentence.find(path) == std::string::npos)
    complain("no sentence that names " + path + ": '" + outcome.sentence + "'");
}

int write_seeds(const std::string& to) {
  for (const ImportSeed& seed : plumbline::fuzz::import_seeds())
    testing::write_file(to + "/" + seed.name, seed.contents);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 3 && std::string_view(argv[1]) == "seeds") return write_seeds(argv[2]);
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 200;
  const testing::TempDir directory;
  std::mt19937 random(1);
  for (const ImportSeed& seed : plumbline::fuzz::import_seeds()) {
    const std::string path = directory / seed.name;
    check(path, seed.contents, true);
    for (std::size_t size = 0; size < seed.contents.size(); size += 1 + seed.contents.size() / 300)
      check(path, seed.contents.substr(0, size), false);
    for (int i = 0; i < rounds; ++i) check(path, damaged(seed.contents, random), false);
  }
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  constexpr long kMostKib = 1 << 20;
  if (usage.ru_maxrss > kMostKib) complain("small damaged files took " + std::to_string(usage.ru_maxrss) + " KiB");
  if (failures != 0) std::fprintf(stderr, "import_corruption: %d failures\n", failures);
  return failures == 0 ? 0 : 1;
}
