// A line of a job's log, with what launchers and loggers put before it taken off.
//
//   LogLine line("[rank3]:[E626 05:14:36.393067540 ProcessGroupNCCL.cpp:1743] [PG ID 0 …", 2025);
//   line.rank      3
//   line.time_ns   of 26 June, 05:14:36.393067540
//   line.text      "[E626 05:14:36.393067540 …"
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace plumbline::reader::imports {

struct LogLine {
  // `year`: of times that are written without one.
  LogLine(std::string_view whole, int year);

  std::string_view text;      // without the launcher's prefix, and without the end of the line
  int rank = -1;              // global, as the prefix says
  int local_rank = -1;        // of "[default3]:"
  std::uint64_t time_ns = 0;  // taken as UTC; 0: the line has none
};

// Helpers to take a line apart. What is not there is nothing.
std::optional<std::int64_t> number_after(std::string_view text, std::string_view word);
std::string_view between(std::string_view text, std::string_view before, std::string_view after);
// Takes `word` off the front.
bool take_word(std::string_view& text, std::string_view word);
std::optional<std::int64_t> take_number(std::string_view& text);

// "2026-11-29_16:51:09" or "2026-11-29 16:51:09.25"; 0 when it is none.
std::uint64_t date_time_ns(std::string_view text);

}  // namespace plumbline::reader::imports
