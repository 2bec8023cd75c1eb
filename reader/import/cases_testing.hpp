// For tests on real files: where they lie, and an import of them in one call.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "reader/import/import.hpp"
#include "reader/testing/records.hpp"

namespace plumbline::reader::imports {

class CasesTest : public ::testing::Test {
 protected:
  static std::string cases(const std::string& name) { return std::string(PLUMBLINE_CASES) + "/" + name; }

  // Imports files of the collection; the test fails when none can be used.
  reader::Run import(const std::vector<std::string>& names) {
    std::vector<std::string> paths;
    for (const std::string& name : names) paths.push_back(cases(name));
    Result<ImportReport> report = import_files(paths, directory_ / "run");
    EXPECT_TRUE(report.ok()) << report.status().message();
    if (report.ok()) report_ = std::move(*report);
    return testing::open_run(directory_ / "run");
  }

  testing::TempDir directory_;
  ImportReport report_;
};

}  // namespace plumbline::reader::imports
