// The stats table: what was read, what was skipped and what is missing, as rows that a check can query. Loss of data is
// never only a line of text.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace plumbline::reader {

enum class Severity {
  kInfo,      // a plain count
  kNotice,    // odd, yet nothing is missing
  kDataLoss,  // events are missing, or may be
};

struct Stat {
  std::string name;  // e.g. "frames_damaged", "dropped.alloc"
  Severity severity = Severity::kInfo;
  std::uint64_t value = 0;
  std::string detail;  // a sentence for people, may be empty
};

class Stats {
 public:
  // Adds to the row of that name, making it when it is not there.
  void add(std::string_view name, Severity severity, std::uint64_t value, std::string detail = {});
  std::uint64_t value(std::string_view name) const;
  bool data_lost() const;
  const std::vector<Stat>& rows() const { return rows_; }
  void merge(const Stats& other);

 private:
  std::vector<Stat> rows_;
};

}  // namespace plumbline::reader
