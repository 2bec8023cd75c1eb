#include "reader/import/text/log_line.hpp"

#include <gtest/gtest.h>

namespace plumbline::reader::imports {
namespace {

constexpr std::uint64_t kSecond = 1'000'000'000;

TEST(LogLineTest, PrefixesOfLaunchersAreTakenOff) {
  EXPECT_EQ(LogLine("[rank12]: ValueError: x\r\n", 2025).text, "ValueError: x");
  EXPECT_EQ(LogLine("[rank12]: ValueError: x", 2025).rank, 12);
  EXPECT_EQ(LogLine("[default3]:text", 2025).local_rank, 3);
  EXPECT_EQ(LogLine("[1,2]<stdout>:text", 2025).rank, 2);
  EXPECT_EQ(LogLine("[1,2]<stdout>:text", 2025).text, "text");
  EXPECT_EQ(LogLine("[rank]: x", 2025).rank, -1);
  EXPECT_EQ(LogLine("[1, 2, 3]", 2025).text, "[1, 2, 3]");
  EXPECT_EQ(LogLine("", 2025).text, "");
}

TEST(LogLineTest, TimesOfGlogLines) {
  const LogLine line("[rank3]:[E626 05:14:36.393067540 ProcessGroupNCCL.cpp:1743] text", 2025);
  EXPECT_EQ(line.time_ns, date_time_ns("2025-06-26 05:14:36.393067540"));
  EXPECT_EQ(LogLine("W1129 16:51:09.438000 12129 torch/x.py:1012] text", 2026).time_ns,
            date_time_ns("2026-11-29_16:51:09.438"));
  EXPECT_EQ(LogLine("E9999 16:51:09 x", 2026).time_ns, 0U);
  EXPECT_EQ(LogLine("[E ProcessGroupNCCL.cpp:458] [Rank 0] text", 2026).time_ns, 0U);
}

TEST(LogLineTest, DatesAndTimes) {
  EXPECT_EQ(date_time_ns("1970-01-02_00:00:01"), 86'401 * kSecond);
  EXPECT_EQ(date_time_ns("2026-11-29T16:51:09.5"), date_time_ns("2026-11-29 16:51:09") + kSecond / 2);
  for (const char* const text :
       {"", "yesterday", "2026-13-01 00:00:00", "2026-11-29 25:00:00", "2026-11-29", "-5-1-1 0:0:0"})
    EXPECT_EQ(date_time_ns(text), 0U) << text;
}

TEST(LogLineTest, Parts) {
  EXPECT_EQ(number_after("SeqNum=1580, OpType=", "SeqNum="), 1580);
  EXPECT_EQ(number_after("completed work:  -1.", "work:"), -1);
  EXPECT_FALSE(number_after("SeqNum=x", "SeqNum=").has_value());
  EXPECT_FALSE(number_after("", "SeqNum=").has_value());
  EXPECT_EQ(between("OpType=ALLREDUCE, N", "OpType=", ","), "ALLREDUCE");
  EXPECT_EQ(between("OpType=ALLREDUCE", "OpType=", ","), "");
}

}  // namespace
}  // namespace plumbline::reader::imports
