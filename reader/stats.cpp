#include "reader/stats.hpp"

#include <algorithm>

namespace plumbline::reader {

void Stats::add(std::string_view name, Severity severity, std::uint64_t value, std::string detail) {
  const auto it = std::find_if(rows_.begin(), rows_.end(), [&](const Stat& row) { return row.name == name; });
  if (it == rows_.end()) {
    rows_.push_back({std::string(name), severity, value, std::move(detail)});
    return;
  }
  it->value += value;
  it->severity = std::max(it->severity, severity);
  if (it->detail.empty()) it->detail = std::move(detail);
}

std::uint64_t Stats::value(std::string_view name) const {
  const auto it = std::find_if(rows_.begin(), rows_.end(), [&](const Stat& row) { return row.name == name; });
  return it == rows_.end() ? 0 : it->value;
}

bool Stats::data_lost() const {
  return std::any_of(rows_.begin(), rows_.end(),
                     [](const Stat& row) { return row.severity == Severity::kDataLoss && row.value != 0; });
}

void Stats::merge(const Stats& other) {
  for (const Stat& row : other.rows_) add(row.name, row.severity, row.value, row.detail);
}

}  // namespace plumbline::reader
