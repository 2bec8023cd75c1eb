#include "tools/run_reader/import.hpp"

#include <gtest/gtest.h>

#include <sstream>

#include "reader/testing/records.hpp"
#include "tools/run_reader/exit_code.hpp"
#include "tools/run_reader/foreign_run.hpp"
#include "tools/run_reader/run_reader.hpp"

namespace plumbline::tools {
namespace {

class ImportCommandTest : public ::testing::Test {
 protected:
  std::string dump(int rank) {
    const std::string path = directory_ / ("trace_" + std::to_string(rank));
    reader::testing::write_file(
        path, R"({"version":"2.9","pg_config":{"0":{"name":"0","desc":"default_pg","ranks":"[0, 1]"}},"entries":[]})");
    return path;
  }

  int run(const std::vector<std::string>& arguments) {
    out_.str({});
    err_.str({});
    return run_reader(arguments, out_, err_, false);
  }

  reader::testing::TempDir directory_;
  std::ostringstream out_;
  std::ostringstream err_;
};

TEST_F(ImportCommandTest, SaysWhatWasImported) {
  EXPECT_EQ(run({"import", dump(0), dump(1), "-o", directory_ / "run"}), kExitFine);
  EXPECT_EQ(out_.str(), "2 processes imported into " + (directory_ / "run") +
                            ":\n  2 files: a PyTorch flight recorder dump, version 2.9 of ranks 0,1\n");
  EXPECT_EQ(err_.str(), "");
  EXPECT_NE(run({"ranks", directory_ / "run"}), kExitUsage);
}

TEST_F(ImportCommandTest, FilesThatWereLeftOutChangeTheStatus) {
  reader::testing::write_file(directory_ / "zip", std::string_view("PK\x03\x04..."));
  EXPECT_EQ(run({"import", dump(0), directory_ / "zip", "-o", directory_ / "run"}), kExitInconclusive);
  EXPECT_NE(err_.str().find("zip file"), std::string::npos);
}

TEST_F(ImportCommandTest, NothingUsableIsAnError) {
  reader::testing::write_file(directory_ / "zip", std::string_view("PK\x03\x04..."));
  EXPECT_EQ(run({"import", directory_ / "zip", "-o", directory_ / "run"}), kExitUsage);
  EXPECT_EQ(out_.str(), "");
  EXPECT_EQ(run({"import", directory_ / "zip"}), kExitUsage) << "no -o";
  EXPECT_EQ(run({"import", "-o", directory_ / "run"}), kExitUsage) << "no files";
}

TEST_F(ImportCommandTest, DiagnoseTakesTheFilesThemselves) {
  run({"diagnose", dump(0), dump(1)});
  EXPECT_NE(out_.str(), "") << err_.str();
  EXPECT_EQ(err_.str(), "");
  reader::testing::write_file(directory_ / "zip", std::string_view("PK\x03\x04..."));
  EXPECT_EQ(run({"diagnose", directory_ / "zip"}), kExitUsage);
  EXPECT_NE(err_.str().find("zip file"), std::string::npos);
  EXPECT_EQ(run({"diagnose", directory_ / "absent"}), kExitUsage);
  EXPECT_NE(err_.str().find("Give a run directory"), std::string::npos);
}

TEST_F(ImportCommandTest, WhatIsNativeNeedsNoImport) {
  reader::testing::write_small_trace(directory_ / "native");
  EXPECT_TRUE(are_native({directory_ / "native"}));
  EXPECT_FALSE(are_native({dump(0)}));
  EXPECT_FALSE(are_native({directory_ / "native", dump(0)}));
  EXPECT_FALSE(need_import({directory_ / "native"}));
  EXPECT_TRUE(need_import({dump(0)}));
  EXPECT_TRUE(need_import({directory_ / "native", dump(0)}));
  EXPECT_FALSE(need_import({directory_ / "absent"}));
  EXPECT_FALSE(need_import({}));
}

}  // namespace
}  // namespace plumbline::tools
