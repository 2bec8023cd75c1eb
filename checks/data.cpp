#include "checks/data.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "checks/observations.hpp"
#include "checks/row_beginnings.hpp"
#include "checks/row_ends.hpp"
#include "checks/row_labels.hpp"
#include "checks/token_rows.hpp"

namespace plumbline::checks {
namespace {

class DataCheck {
 public:
  explicit DataCheck(const Subject& subject)
      : subject_(subject), captures_(subject.captures()), loader_(subject.captures()) {}

  Verdict verdict() {
    Verdict verdict;
    verdict.check = "data";
    for (const std::int64_t step : captures_.steps()) {
      for (const Capture* ids : captures_.select("input_ids", step)) take(*ids);
    }
    if (documents_ == 0) {
      verdict.status = left_out_ > 0 ? Status::kInconclusive : Status::kNotEvaluated;
      verdict.reason = left_out_ > 0 ? "no token ids were captured whole, as rows"
                                     : "no token ids were captured: a diagnosis captures them";
      return verdict;
    }
    for (const auto& [place, batches] : batches_) examine_beginnings(batches, observations_);
    labels_.report(observations_);
    ends_.report(observations_);
    verdict.findings = observations_.findings(subject_);
    for (const auto& remark : {labels_.remark(), ends_.remark()}) {
      if (remark) verdict.unknown.push_back(*remark);
    }
    if (labels_.rows() == 0) verdict.unknown.emplace_back("whether every row has a label: no labels fit the token ids");
    conclude(verdict);
    return verdict;
  }

 private:
  void take(const Capture& ids) {
    const Capture* mask = captured_beside(captures_, "attention_mask", ids);
    auto rows = token_rows(loader_, &ids, mask, captured_beside(captures_, "position_ids", ids));
    if (!rows) {
      ++left_out_;
      return;
    }
    TokenBatch batch{&ids, std::move(*rows), {}};
    batch.documents = documents_of(batch.rows);
    ends_.note_settings(ids);
    // One forward pass may be seen at several places: the model's own arguments, and the embedding.
    if (passes_.insert({ids.rank, ids.step, ids.occurrence}).second) {
      documents_ += batch.documents.size();
      for (const Capture* labels : captures_.select("labels", ids.step, {}, ids.rank)) {
        // The model may be given them, too.
        if (labels->occurrence != ids.occurrence || !labels_.count(loader_, *labels, batch.rows)) continue;
        ends_.count(loader_, *labels, batch.rows);
        break;
      }
    }
    batches_[{ids.rank, ids.name}].push_back(std::move(batch));
  }

  void conclude(Verdict& verdict) const {
    const bool fails = std::any_of(verdict.findings.begin(), verdict.findings.end(),
                                   [](const Finding& finding) { return finding.status == Status::kFail; });
    if (!verdict.findings.empty()) {
      verdict.status = fails ? Status::kFail : Status::kInconclusive;
      verdict.reason = verdict.findings.front().title;
      return;
    }
    verdict.status = Status::kPass;
    verdict.reason = fmt::format("{} rows begin with no token twice", documents_);
    if (labels_.rows() > 0) verdict.reason += fmt::format("; {} were looked at for labels", labels_.rows());
  }

  const Subject& subject_;
  const reader::RunCaptures& captures_;
  CaptureLoader loader_;
  std::map<std::pair<int, std::string>, std::vector<TokenBatch>> batches_;  // by rank and place in the model
  std::set<std::tuple<int, std::int64_t, std::uint32_t>> passes_;
  RowLabels labels_;
  RowEnds ends_;
  std::size_t documents_ = 0;
  std::size_t left_out_ = 0;
  Observations observations_;
};

}  // namespace

Verdict check_data(const Subject& subject) { return DataCheck(subject).verdict(); }

}  // namespace plumbline::checks
