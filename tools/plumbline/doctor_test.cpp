#include "tools/plumbline/doctor.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "tools/plumbline/scratch_directory.hpp"

namespace plumbline::tools {
namespace {

bool says(const Findings& findings, Grade grade, const std::string& subject, const std::string& part) {
  return std::any_of(findings.all().begin(), findings.all().end(), [&](const Finding& one) {
    return one.grade == grade && one.subject == subject && one.sentence.find(part) != std::string::npos;
  });
}

TEST(DoctorProcess, ThatIsNotThere) {
  EXPECT_FALSE(examine_process(1 << 30));
  EXPECT_EQ(doctor(std::to_string(1 << 30), ""), 2);
}

TEST(DoctorProcess, WithoutThePreloadObject) {
  const auto findings = examine_process(getpid());
  ASSERT_TRUE(findings);
  EXPECT_TRUE(says(*findings, Grade::kFine, "process", std::to_string(getpid())));
  EXPECT_TRUE(says(*findings, Grade::kProblem, "preload object", "started without it"));
}

TEST(DoctorRun, ThatIsNotThere) {
  std::string why;
  EXPECT_FALSE(examine_run("/nonexistent/run", why));
  EXPECT_NE(why, "");
}

TEST(DoctorRun, ThatIsEmpty) {
  const ScratchDirectory scratch;
  std::string why;
  EXPECT_FALSE(examine_run(scratch.path(""), why));
  EXPECT_NE(why, "");
}

TEST(DoctorMachine, ReadsTheSwitches) {
  setenv("PLUMBLINE_DISABLE", "1", 1);
  setenv("PLUMBLINE_LEVLE", "watch", 1);
  const Findings findings = examine_machine("/nonexistent/python");
  unsetenv("PLUMBLINE_DISABLE");
  unsetenv("PLUMBLINE_LEVLE");
  EXPECT_TRUE(says(findings, Grade::kProblem, "settings", "PLUMBLINE_DISABLE"));
  EXPECT_TRUE(says(findings, Grade::kProblem, "settings", "PLUMBLINE_LEVLE"));
  EXPECT_TRUE(says(findings, Grade::kProblem, "python", "cannot be run"));
}

TEST(DoctorMachine, LooksForAPlaceToWrite) {
  setenv("PLUMBLINE_DIR", "/proc", 1);
  const Findings nowhere = examine_machine("/nonexistent/python");
  const ScratchDirectory scratch;
  setenv("PLUMBLINE_DIR", scratch.path("not/yet/there").c_str(), 1);
  const Findings somewhere = examine_machine("/nonexistent/python");
  unsetenv("PLUMBLINE_DIR");
  EXPECT_TRUE(says(nowhere, Grade::kProblem, "run directory", "cannot be written to"));
  EXPECT_FALSE(says(somewhere, Grade::kProblem, "run directory", ""));
}

}  // namespace
}  // namespace plumbline::tools
