#include "tools/run_reader/report/formula_plot.hpp"

#include <gtest/gtest.h>

#include <sstream>

#include "checks/testing/fake_rank.hpp"
#include "reader/testing/records.hpp"

namespace plumbline::tools {
namespace {

using checks::testing::FakeRank;

// Logits of rows that become longer; the last ones do not fit.
std::string plots_with(const std::string& dims) {
  const reader::testing::TempDir directory;
  constexpr std::uint64_t kVocabulary = 30001;
  FakeRank rank(directory.path(), 0, 1);
  for (int step = 0; step < 4; ++step) {
    rank.alloc(10 * step + 1, 0x1000, (100 << step) * kVocabulary * 4);
    rank.free(10 * step + 3, 0x1000);
    rank.step(10 * step + 5, 10 * step + 7);
  }
  rank.fail(45, 1600 * kVocabulary * 4);
  rank.exit(1, 0, "RuntimeError", "can't allocate memory");
  const reader::Run run = reader::testing::open_run(directory.path());
  const checks::Subject subject(run);
  Options options;
  options.dims = dims;
  std::ostringstream out;
  return formula_plots(Context{options, run, subject, out, out});
}

TEST(FormulaPlot, ShowsTheCurveTheStepsAndTheRequestThatFailed) {
  const std::string svg =
      plots_with("vocabulary=30001,length@0=100,length@1=200,length@2=400,length@3=800,length@4=1600");
  EXPECT_NE(svg.find("length x vocabulary x 4 B, grows linearly with the row length"), std::string::npos) << svg;
  EXPECT_NE(svg.find("the request that failed: 1600 x 30001 x 4 B"), std::string::npos) << svg;
  EXPECT_NE(svg.find("step 2: 400 x 30001 x 4 B"), std::string::npos) << svg;
}

TEST(FormulaPlot, WithoutDimensionsThereIsNone) { EXPECT_EQ(plots_with(""), ""); }

TEST(FormulaPlot, NorWhereNothingExplainsTheRequest) {
  EXPECT_EQ(plots_with("hidden=4096,length@3=800,length@4=1600"), "");
}

}  // namespace
}  // namespace plumbline::tools
