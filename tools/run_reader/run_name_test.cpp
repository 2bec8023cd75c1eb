#include "tools/run_reader/run_name.hpp"

#include <gtest/gtest.h>

#include <sstream>

#include "checks/testing/fake_rank.hpp"

namespace plumbline::tools {
namespace {

std::string name_of(const std::vector<std::string>& files, const std::string& run_option) {
  const reader::testing::TempDir directory;
  checks::testing::FakeRank(directory.path(), 0, 1).exit(0);
  const reader::Run run = reader::testing::open_run(directory.path());
  const checks::Subject subject(run);
  Options options;
  options.files = files;
  options.run = run_option;
  std::ostringstream out;
  const std::string name = run_name(Context{options, run, subject, out, out});
  return name == directory.path() ? "its directory" : name;
}

TEST(RunNameTest, ARunIsCalledByItsDirectory) {
  EXPECT_EQ(name_of({}, "runs/one"), "its directory");
  EXPECT_EQ(name_of({"runs/one"}, "runs/one"), "its directory");
}

TEST(RunNameTest, ImportedFilesByTheirOwnNames) {
  EXPECT_EQ(name_of({"dumps/rank_0"}, "scratch/rank_0"), "dumps/rank_0");
  EXPECT_EQ(name_of({"dumps/rank_0", "dumps/rank_1"}, "scratch/x"), "dumps/rank_0 and dumps/rank_1");
  EXPECT_EQ(name_of({"dumps/rank_0", "dumps/rank_1", "py-spy.txt"}, "scratch/x"), "dumps/rank_0 and 2 more files");
}

}  // namespace
}  // namespace plumbline::tools
