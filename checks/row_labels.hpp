// Rows that nothing is learned from, since no place of theirs has a label.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "checks/observations.hpp"
#include "checks/token_rows.hpp"

namespace plumbline::checks {

class RowLabels {
 public:
  // One captured call of a loss function, and the rows that its labels belong to. False where they do not fit.
  bool count(CaptureLoader& loader, const Capture& labels, const TokenRows& rows);

  std::size_t rows() const { return rows_; }
  // A finding where more than half of all rows have none; ranks that divide rows among them may each see rows without.
  void report(Observations& into) const;
  // A remark where fewer do.
  std::optional<std::string> remark() const;

 private:
  std::size_t rows_ = 0;
  std::size_t without_ = 0;
  const Capture* first_ = nullptr;  // with such a row
};

}  // namespace plumbline::checks
