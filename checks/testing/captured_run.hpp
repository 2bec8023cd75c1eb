// A run with captures, as the tests of what looks at them write and read it.
//
//   const TempDir directory;
//   write_trace(directory.path());
//   CaptureJob job(directory.path(), 0);
//   job.tensor(…);
//   job.finish();
//   CapturedRun all(directory);
//   examine_buffers(captured_steps(all.captures()), all.loader, …);
#pragma once

#include "checks/capture_loader.hpp"
#include "checks/subject.hpp"
#include "checks/testing/capture_job.hpp"
#include "checks/testing/fake_rank.hpp"

namespace plumbline::checks::testing {

using reader::testing::open_run;
using reader::testing::TempDir;

struct CapturedRun {
  explicit CapturedRun(const TempDir& directory)
      : run(open_run(directory.path())), subject(run), loader(subject.captures()) {}
  CapturedRun(const CapturedRun&) = delete;
  CapturedRun& operator=(const CapturedRun&) = delete;

  reader::RunCaptures& captures() const { return subject.captures(); }

  const reader::Run run;
  const Subject subject;
  CaptureLoader loader;
};

}  // namespace plumbline::checks::testing
