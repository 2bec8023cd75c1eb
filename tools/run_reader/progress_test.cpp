#include "tools/run_reader/progress.hpp"

#include <gtest/gtest.h>

#include <sstream>
#include <thread>

namespace plumbline::tools {
namespace {

constexpr std::chrono::milliseconds kLong{900};

TEST(ProgressTest, ShortWorkShowsNothing) {
  std::ostringstream err;
  {
    ProgressLine line(err, true);
    line.show("reading trace", 1, 2);
  }
  EXPECT_EQ(err.str(), "");
}

TEST(ProgressTest, LongWorkShowsALineAndWipesIt) {
  std::ostringstream err;
  {
    ProgressLine line(err, true);
    std::this_thread::sleep_for(kLong);
    line.show("reading trace", 7, 4096);
    line.show("reading trace", 8, 4096);  // too soon after the one before
  }
  EXPECT_EQ(err.str(), "\rreading trace 7 of 4096\r" + std::string(23, ' ') + "\r");
}

// What the command prints next must not stand behind it.
TEST(ProgressTest, WithTheLastOneTheLineIsGone) {
  std::ostringstream err;
  ProgressLine line(err, true);
  std::this_thread::sleep_for(kLong);
  line.show("reading trace", 1, 2);
  line.show("reading trace", 2, 2);
  EXPECT_EQ(err.str(), "\rreading trace 1 of 2\r" + std::string(20, ' ') + "\r");
}

TEST(ProgressTest, OffItIsSilent) {
  std::ostringstream err;
  {
    ProgressLine line(err, false);
    std::this_thread::sleep_for(kLong);
    line.show("reading trace", 7, 4096);
  }
  EXPECT_EQ(err.str(), "");
}

}  // namespace
}  // namespace plumbline::tools
