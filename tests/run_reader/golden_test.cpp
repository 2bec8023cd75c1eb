// The reports of small runs, word for word. With PLUMBLINE_UPDATE_GOLDEN=1 the expected texts are written anew: read
// the difference before committing it.
#include <gtest/gtest.h>

#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>

#include "reader/testing/records.hpp"
#include "tests/run_reader/scenes.hpp"
#include "tools/run_reader/run_reader.hpp"
#include "tools/run_reader/text.hpp"

namespace plumbline::tests {
namespace {

struct Golden {
  std::string_view scene;
  std::string_view command;  // and its options, separated by spaces
  int exit_status;
};

constexpr Golden kGoldens[] = {
    {"healthy", "summary", 0},
    {"healthy", "ranks", 0},
    {"healthy", "collectives", 0},
    {"healthy", "allocations", 0},
    {"healthy", "optimizer", 0},
    {"healthy", "ranges", 0},
    {"healthy", "events --step 1 --rank 0", 0},
    {"healthy", "events --kind collective,step_end --limit 3", 0},
    {"healthy", "dump --rank 1 --step 2", 0},
    {"healthy", "summary --json", 0},
    {"healthy", "optimizer --json", 0},
    {"left_early", "summary", 1},
    {"left_early", "summary --json", 1},
    {"left_early", "collectives", 1},
    {"mismatch", "summary", 1},
    {"out_of_memory", "summary", 1},
    {"out_of_memory", "allocations", 1},
    {"uncovered", "summary", 3},
    {"restart", "summary", 1},
    {"restart", "ranks", 0},
    {"healthy", "diagnose", 0},
    {"left_early", "diagnose", 1},
    {"left_early", "diagnose --json", 1},
    {"mismatch", "diagnose", 1},
    {"out_of_memory", "diagnose", 1},
    {"growing_rows", "diagnose", 1},
    {"uncovered", "diagnose", 3},
    {"restart", "diagnose", 1},
    {"pipeline_circle", "diagnose", 1},
    {"silent_mismatch", "diagnose", 1},
    {"stuck_in_loader", "diagnose", 1},
};

std::string file_name(const Golden& golden) {
  std::string name = std::string(golden.scene) + "." + std::string(golden.command) + ".txt";
  for (char& letter : name) {
    if (letter == ' ' || letter == ',') letter = '_';
  }
  return name;
}

std::string text_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

// The directory is another one in every run.
void replace_all(std::string& text, const std::string& what, const std::string& with) {
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + with.size())) {
    text.replace(at, what.size(), with);
  }
}

// Where a frame lies depends on how well those before it were compressed.
std::string without_offsets(const std::string& text) {
  static const std::regex offset("\"frame_offset\": [0-9]+");
  return std::regex_replace(text, offset, "\"frame_offset\": N");
}

class GoldenTest : public ::testing::TestWithParam<Golden> {
 protected:
  static void SetUpTestSuite() {
    setenv("TZ", "UTC", 1);
    tzset();
  }
};

TEST_P(GoldenTest, ReportIsAsExpected) {
  const Golden& golden = GetParam();
  const reader::testing::TempDir directory;
  const std::string run = directory / "run";
  std::filesystem::create_directory(run);
  for (const Scene& scene : scenes()) {
    if (scene.name == golden.scene) scene.write(run);
  }
  std::istringstream words{std::string(golden.command)};
  std::vector<std::string> arguments;
  for (std::string word; words >> word;) arguments.push_back(word);
  arguments.insert(arguments.begin() + 1, run);

  std::ostringstream out;
  std::ostringstream err;
  EXPECT_EQ(tools::run_reader(arguments, out, err, false), golden.exit_status);
  EXPECT_EQ(err.str(), "");
  std::string report = without_offsets(out.str());
  replace_all(report, directory.path(), "DIR");
  const bool for_people = golden.command.find("--json") == std::string_view::npos &&
                          !golden.command.starts_with("dump") && !golden.command.starts_with("events");
  if (for_people) {
    std::istringstream lines(report);
    for (std::string line; std::getline(lines, line);) EXPECT_LE(tools::width_of(line), tools::kColumns) << line;
  }

  const std::filesystem::path expected = std::filesystem::path(PLUMBLINE_GOLDEN_DIR) / file_name(golden);
  if (std::getenv("PLUMBLINE_UPDATE_GOLDEN") != nullptr) {
    std::ofstream(expected, std::ios::binary) << report;
  }
  EXPECT_EQ(report, text_of(expected)) << "expected in " << expected;
}

INSTANTIATE_TEST_SUITE_P(Reports, GoldenTest, ::testing::ValuesIn(kGoldens), [](const auto& info) {
  std::string name = file_name(info.param);
  name.resize(name.size() - 4);
  for (char& letter : name) {
    if (std::isalnum(static_cast<unsigned char>(letter)) == 0) letter = '_';
  }
  return name;
});

}  // namespace
}  // namespace plumbline::tests
