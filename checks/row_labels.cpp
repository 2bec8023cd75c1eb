#include "checks/row_labels.hpp"

#include <fmt/format.h>

#include <vector>

#include "checks/detail.hpp"

namespace plumbline::checks {
namespace {

constexpr std::size_t kFewestRows = 4;

}  // namespace

bool RowLabels::count(CaptureLoader& loader, const Capture& labels, const TokenRows& rows) {
  if (labels.captured() != labels.elements() || rows.batch == 0 || labels.elements() % rows.batch != 0) return false;
  // A label a token; the last one, which has nothing to predict, may be left out.
  const std::size_t length = labels.elements() / rows.batch;
  if (length > rows.length || length + 1 < rows.length) return false;
  const RawTensor raw = loader.load(&labels);
  if (raw.count() != labels.elements()) return false;
  std::vector<double> values;
  raw.decode(0, raw.count(), values);
  const double ignored = Detail(labels.detail).number("ignore_index").value_or(-100);
  for (const Document& document : documents_of(rows)) {
    // The last place of a document predicts the first token of the next one.
    if (document.end - document.begin < 2) continue;
    bool learned = false;
    for (std::size_t place = document.begin; place < std::min(document.end, length) && !learned; ++place)
      learned = values[document.row * length + place] != ignored;
    ++rows_;
    if (learned) continue;
    ++without_;
    if (first_ == nullptr) first_ = &labels;
  }
  return true;
}

void RowLabels::report(Observations& into) const {
  if (first_ == nullptr || 2 * without_ <= rows_ || rows_ < kFewestRows) return;
  Observation one;
  one.kind = "no labels";
  one.status = without_ == rows_ ? Status::kFail : Status::kInconclusive;
  one.rank = first_->rank;
  one.step = first_->step;
  one.tensor = "labels";
  one.words = without_ == rows_ ? fmt::format("are ignored in all {} captured rows: nothing is learned", rows_)
                                : fmt::format("are ignored throughout {} of {} captured rows", without_, rows_);
  one.details.emplace_back(
      "as when the words that begin an answer are not found in a row, or a prompt fills it to its end");
  one.next = "look at how the part of a row that is to be learned is found, and at the longest row that is kept";
  one.component = "data";
  one.capture = first_;
  into.add(std::move(one));
}

std::optional<std::string> RowLabels::remark() const {
  if (without_ == 0 || (2 * without_ > rows_ && rows_ >= kFewestRows)) return std::nullopt;
  return fmt::format("whether {} of {} rows are meant to have no label: nothing is learned from them", without_, rows_);
}

}  // namespace plumbline::checks
