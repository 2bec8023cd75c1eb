// Opens checkpoints that are cut at every byte and damaged in thousands of ways: files, and directories of which one
// file is damaged, missing or in the place of another, or says that tensors lie elsewhere.
//
//   checkpoint_corruption [number of corruptions of each file]
//   checkpoint_corruption seeds DIRECTORY                    writes a first corpus for checkpoint_fuzz instead
//
// Nothing may crash (the sanitizers watch the rest), memory stays small, and every refusal names the file. Exit status
// 0 when all of that holds.
#include <sys/resource.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "reader/testing/records.hpp"
#include "tests/fuzz/checkpoint_directories.hpp"
#include "tests/fuzz/checkpoint_everything.hpp"
#include "tests/fuzz/damage.hpp"

namespace {

using plumbline::fuzz::CheckpointOutcome;
using plumbline::fuzz::damaged;
using plumbline::fuzz::Files;
namespace fs = std::filesystem;
namespace testing = plumbline::reader::testing;

int failures = 0;

void complain(const std::string& what) {
  if (++failures <= 10) std::fprintf(stderr, "checkpoint_corruption: %s\n", what.c_str());
}

CheckpointOutcome look(const std::string& path) {
  CheckpointOutcome outcome = plumbline::fuzz::read_checkpoint(path);
  if (!outcome.opened && outcome.sentence.find(path) == std::string::npos)
    complain("no sentence that names " + path + ": '" + outcome.sentence + "'");
  for (const std::string& problem : outcome.problems) {
    if (problem.empty()) complain("a problem without a sentence in " + path);
  }
  return outcome;
}

void check(const std::string& path, const std::string& contents, bool must_open) {
  testing::write_file(path, std::string_view(contents));
  const CheckpointOutcome outcome = look(path);
  if (must_open && !outcome.opened) complain("an undamaged file was refused: " + outcome.sentence);
}

CheckpointOutcome look_at_directory(const std::string& path) {
  CheckpointOutcome outcome = look(path);
  for (const std::string& file : outcome.files) {
    if (fs::canonical(file).parent_path() != fs::canonical(path)) complain(file + " is outside of the checkpoint");
  }
  return outcome;
}

CheckpointOutcome look(const std::string& path, const Files& files) {
  plumbline::fuzz::write_directory(path, files);
  return look_at_directory(path);
}

// Cuts, damage, and what a copy or an upload does to one file among others.
void damage_one(const std::string& path, const Files& files, const std::string& name, int rounds,
                std::mt19937& random) {
  plumbline::fuzz::write_directory(path, files);
  const auto look_with = [&](std::string_view contents) {
    testing::write_file(path + "/" + name, contents);
    look_at_directory(path);
  };
  const std::string& whole = files.at(name);
  for (std::size_t size = 0; size < whole.size(); size += 1 + whole.size() / 100)
    look_with(std::string_view(whole).substr(0, size));
  for (int i = 0; i < rounds; ++i) look_with(damaged(whole, random));
  for (const auto& [other, instead] : files) look_with(instead);
  fs::remove(path + "/" + name);
  look_at_directory(path);
}

void check_directories(const testing::TempDir& directory, int rounds, std::mt19937& random) {
  const std::string path = directory / "many";
  for (const auto& [name, files] : plumbline::fuzz::checkpoint_directories()) {
    const CheckpointOutcome outcome = look(path, files);
    if (!outcome.opened || !outcome.problems.empty() || outcome.tensors == 0)
      complain(name + " is undamaged: " + (outcome.problems.empty() ? outcome.sentence : outcome.problems.front()));
    for (const auto& [file, contents] : files) damage_one(path, files, file, rounds, random);
  }
  const std::string outside = directory / "outside";
  testing::write_file(outside, std::string_view(plumbline::fuzz::outside_contents()));
  for (const auto& [name, files] : plumbline::fuzz::hostile_directories(outside)) {
    const CheckpointOutcome outcome = look(path, files);
    if (outcome.opened && outcome.problems.empty()) complain("nothing was said of " + name);
  }
}

void write_seeds(const std::string& directory, const std::vector<std::pair<std::string, std::string>>& single) {
  constexpr std::size_t kMostBytes = 8192;  // larger ones hold a fuzzer up
  auto directories = plumbline::fuzz::checkpoint_directories();
  for (auto& hostile : plumbline::fuzz::hostile_directories("/outside")) directories.push_back(std::move(hostile));
  for (const auto& [name, contents] : single)
    testing::write_file(fs::path(directory) / name, std::string_view(contents));
  for (std::size_t i = 0; i < directories.size(); ++i) {
    const std::string one = plumbline::fuzz::packed(directories[i].files);
    if (one.size() <= kMostBytes)
      testing::write_file(directory + "/directory" + std::to_string(i), std::string_view(one));
  }
}

}  // namespace

int main(int argc, char** argv) {
  const auto seeds = plumbline::fuzz::checkpoint_seeds();
  if (argc == 3 && std::string_view(argv[1]) == "seeds") {
    write_seeds(argv[2], seeds);
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
  check_directories(directory, rounds / 10, random);
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  constexpr long kMostKib = 1 << 20;
  if (usage.ru_maxrss > kMostKib) complain("small damaged files took " + std::to_string(usage.ru_maxrss) + " KiB");
  if (failures != 0) std::fprintf(stderr, "checkpoint_corruption: %d failures\n", failures);
  return failures == 0 ? 0 : 1;
}
