// What the command line asked for.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "recorder/event.hpp"

namespace plumbline::tools {

enum class Command : std::uint8_t {
  kDiagnose,
  kSummary,
  kRanks,
  kCollectives,
  kAllocations,
  kMemory,
  kOptimizer,
  kRanges,
  kStacks,
  kEvents,
  kDump,
  kExport,
  kReport,
  kStragglers,
  kVerify,
  kImport,
  kCheck,
};

// Both ends belong to it.
struct Interval {
  std::int64_t first = 0;
  std::int64_t last = 0;

  bool contains(std::int64_t value) const { return value >= first && value <= last; }
};

// Which events to show. What is empty does not filter.
struct Filter {
  std::vector<Interval> ranks;
  std::vector<Interval> steps;
  double from_s = 0;  // since the run's start
  double to_s = std::numeric_limits<double>::infinity();
  std::vector<recorder::Kind> kinds;
  std::uint64_t limit = 0;  // 0: no limit

  bool takes_rank(std::int64_t rank) const { return takes(ranks, rank); }
  bool takes_step(std::int64_t step) const { return takes(steps, step); }
  bool takes_kind(recorder::Kind kind) const {
    if (kinds.empty()) return true;
    for (const recorder::Kind one : kinds) {
      if (one == kind) return true;
    }
    return false;
  }

 private:
  static bool takes(const std::vector<Interval>& intervals, std::int64_t value) {
    if (intervals.empty()) return true;
    for (const Interval& one : intervals) {
      if (one.contains(value)) return true;
    }
    return false;
  }
};

struct Options {
  Command command = Command::kSummary;
  std::string run;
  bool json = false;
  bool colour = false;
  std::string junit;   // file that diagnose and check write; empty: none
  std::string config;  // of memory: a model's config.json
  std::string dims;    // of memory: name=value,…
  Filter filter;
  std::string output;                   // of export and import
  std::vector<std::string> files;       // of import; given to diagnose and report
  std::string check;                    // by name; empty: all, or their list when there is no run
  std::vector<std::string> references;  // of check
  std::string before;                   // of check: a state before the load
};

// "3", "0-7", "0,2,8-15" → intervals; nothing when it is something else.
std::optional<std::vector<Interval>> parse_intervals(const std::string& text);

}  // namespace plumbline::tools
