#include "checks/row_ends.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "checks/detail.hpp"

namespace plumbline::checks {
namespace {

constexpr std::size_t kFewestRuns = 6;

// Whether each token has a label: labels stand at their own token, or at the one before it. Nothing where neither fits.
std::optional<std::vector<bool>> learned_tokens(const std::vector<double>& labels, const TokenRows& rows,
                                                double ignored) {
  const std::size_t length = labels.size() / rows.batch;
  for (const std::size_t ahead : {0, 1}) {
    std::vector<bool> learned(rows.ids.size());
    std::size_t hits = 0;
    bool fits = true;
    for (std::size_t i = 0; i < labels.size() && fits; ++i) {
      if (labels[i] == ignored) continue;
      const std::size_t place = i % length + ahead;
      fits = place < rows.length && rows.at(i / length, place) == labels[i];
      if (!fits) break;
      learned[i / length * rows.length + place] = true;
      ++hits;
    }
    if (fits && hits > 0) return learned;
  }
  return std::nullopt;
}

}  // namespace

void RowEnds::note_settings(const Capture& ids) {
  const Detail detail(ids.detail);
  if (const auto end = detail.number("eos")) ends_.insert(*end);
  for (const auto& end : detail.numbers("eos")) {
    if (end) ends_.insert(*end);
  }
}

void RowEnds::count(CaptureLoader& loader, const Capture& labels, const TokenRows& rows) {
  const std::vector<double> values = loader.values(&labels);
  if (values.empty() || rows.batch == 0 || values.size() % rows.batch != 0) return;
  const double ignored = Detail(labels.detail).number("ignore_index").value_or(-100);
  const auto learned = learned_tokens(values, rows, ignored);
  if (!learned) return;
  if (first_ == nullptr) first_ = &labels;
  for (std::size_t i = 0; i < rows.ids.size(); ++i) {
    if ((*learned)[i]) learned_.insert(rows.ids[i]);
    if (!rows.mask.empty() && rows.mask[i] == 0) padding_.insert(rows.ids[i]);
  }
  const Document* before = nullptr;
  const std::vector<Document> documents = documents_of(rows);
  for (const Document& document : documents) {
    count_runs(rows, *learned, document, document.end < rows.length);
    if (before != nullptr && before->row == document.row && before->end == document.begin) {
      ++followers_;
      crossed_ += (*learned)[document.row * rows.length + document.begin] ? 1 : 0;
    }
    before = &document;
  }
}

std::optional<std::string> RowEnds::remark() const {
  if (crossed_ == 0) return std::nullopt;
  return fmt::format(
      "whether the first token of {} of {} documents is meant to be learned from the end of the one before it in their "
      "row",
      crossed_, followers_);
}

void RowEnds::count_runs(const TokenRows& rows, const std::vector<bool>& learned, const Document& document,
                         bool closed) {
  const std::size_t row = document.row * rows.length;
  for (std::size_t place = document.begin; place < document.end; ++place) {
    Uses& uses = uses_[rows.ids[row + place]];
    const bool last = place + 1 == document.end;
    uses.closing += last && closed ? 1 : 0;
    uses.elsewhere += last ? 0 : 1;
    if (place == document.begin || learned[row + place] || !learned[row + place - 1]) continue;
    ++uses.after;
    ++last_[rows.ids[row + place - 1]];
    ++runs_;
  }
}

void RowEnds::report(Observations& into) const {
  const auto found =
      std::find_if(uses_.begin(), uses_.end(), [&](const auto& one) { return one.second.after == runs_; });
  if (runs_ < kFewestRuns || found == uses_.end()) return;
  const auto& [token, uses] = *found;
  if (learned_.contains(token) || padding_.contains(token)) return;
  const bool is_end = ends_.contains(token);
  // A full stop, or a new line behind an answer, stands elsewhere, too.
  if (!is_end && (uses.closing < kFewestRuns || uses.elsewhere > 0)) return;
  // Where most runs end alike, what they end with is the end that is learned.
  const auto most =
      std::max_element(last_.begin(), last_.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  if (4 * most->second > 3 * runs_) return;
  Observation one;
  one.kind = "end not learned";
  one.status = is_end ? Status::kFail : Status::kInconclusive;
  one.rank = first_->rank;
  one.step = first_->step;
  one.tensor = "labels";
  one.words = fmt::format("never hold token {:.0f}{}, though it follows each of {} stretches that are learned: {}",
                          token, is_end ? ", the model's eos_token_id" : "", runs_,
                          is_end ? "their end is not learned" : "if it is their end, it is not learned");
  one.details.push_back(
      fmt::format("the last tokens that are learned are {} different ones, none of them an end", last_.size()));
  one.next = "let the token that ends an answer or a document have a label";
  one.component = "data";
  one.capture = first_;
  into.add(std::move(one));
}

}  // namespace plumbline::checks
