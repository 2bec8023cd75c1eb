#include "checks/cross_entropy.hpp"

#include <algorithm>
#include <cmath>

#include "checks/detail.hpp"
#include "checks/element_values.hpp"

namespace plumbline::checks {
namespace {

// log(sum(exp(x))) of a row, without overflow.
double log_sum_exp(const std::vector<double>& row) {
  const double most = *std::max_element(row.begin(), row.end());
  double sum = 0;
  for (const double x : row) sum += std::exp(x - most);
  return most + std::log(sum);
}

// Logits by token, whether the classes are their last dimension or, as cross_entropy takes more than two, the second.
class LogitRows {
 public:
  LogitRows(const RawTensor& raw, const std::vector<std::uint64_t>& shape)
      : raw_(raw), classes_(shape.size() > 2 ? shape[1] : shape.back()) {
    for (std::size_t i = 2; i < shape.size(); ++i) inner_ *= shape[i];
  }

  std::size_t classes() const { return classes_; }

  void read(std::size_t row, std::vector<double>& into) {
    if (inner_ == 1) return raw_.decode(row * classes_, classes_, into);
    if (const std::size_t item = row / inner_; item_.empty() || item != at_) {
      raw_.decode(item * classes_ * inner_, classes_ * inner_, item_);
      at_ = item;
    }
    into.resize(classes_);
    for (std::size_t i = 0; i < classes_; ++i) into[i] = item_[i * inner_ + row % inner_];
  }

 private:
  const RawTensor& raw_;
  std::size_t classes_;
  std::size_t inner_ = 1;
  std::size_t at_ = 0;
  std::vector<double> item_;  // all tokens of one entry of the first dimension
};

}  // namespace

std::optional<LossCall> recompute_loss(CaptureLoader& loader, const Capture& loss, const Capture* logits,
                                       const Capture* labels, std::string& why) {
  LossCall call;
  call.rank = loss.rank;
  call.step = loss.step;
  call.occurrence = loss.occurrence;
  call.name = loss.name;
  call.loss = &loss;
  call.logits = logits;
  call.labels = labels;
  if (logits == nullptr || labels == nullptr || logits->captured() != logits->elements() ||
      labels->captured() != labels->elements() || logits->shape.size() < 2) {
    why = "its logits and labels were not captured whole";
    return std::nullopt;
  }
  const Detail detail(loss.detail);
  call.ignore_index = detail.number("ignore_index").value_or(call.ignore_index);
  if (detail.has("reduction")) call.reduction = detail.text("reduction");
  if (detail.has("requires_grad")) call.trains = detail.flag("requires_grad");
  if (detail.has("graph")) call.graph = detail.flag("graph");
  call.smoothing = detail.number("label_smoothing").value_or(0);
  const double smoothing = call.smoothing;
  const std::size_t classes = logits->shape.size() > 2 ? logits->shape[1] : logits->shape.back();
  const std::size_t rows = classes > 0 ? logits->elements() / classes : 0;
  if (rows == 0 || labels->elements() != rows || is_floating(labels->dtype) || detail.flag("weighted")) {
    why = "it is no plain cross-entropy of one label a row";
    return std::nullopt;
  }
  const RawTensor raw = loader.load(logits);
  const RawTensor raw_labels = loader.load(labels);
  if (raw.count() != rows * classes || raw_labels.count() != rows || !is_floating(raw.dtype())) {
    why = "its logits could not be read";
    return std::nullopt;
  }
  raw_labels.decode(0, rows, call.label_values);
  call.rows = rows;
  call.row_losses.resize(rows);
  LogitRows logit_rows(raw, logits->shape);
  std::vector<double> row;
  double magnitude = 0;
  for (std::size_t i = 0; i < rows; ++i) {
    const double label = call.label_values[i];
    if (label == call.ignore_index) continue;
    if (label < 0 || label >= static_cast<double>(classes)) {
      why = "a label is outside of the classes";
      return std::nullopt;
    }
    logit_rows.read(i, row);
    const double normalizer = log_sum_exp(row);
    double value = normalizer - row[static_cast<std::size_t>(label)];
    magnitude += std::fabs(normalizer) + std::fabs(row[static_cast<std::size_t>(label)]);
    if (smoothing > 0) {
      double sum = 0;
      for (const double x : row) sum += normalizer - x;
      value = (1 - smoothing) * value + smoothing * sum / static_cast<double>(classes);
    }
    call.row_losses[i] = value;
    call.sum += value;
    ++call.supervised;
  }
  const RawTensor reported = loader.load(&loss);
  std::vector<double> values;
  if (reported.count() >= 1) reported.decode(0, reported.count(), values);
  for (const double value : values) call.reported += value;
  // The exponentials of a row add up in lanes of at least eight, the rows likewise; each result is stored once.
  const double unit = 0x1p-24;
  const double stored = std::max(unit_roundoff(raw.dtype()), unit_roundoff(loss.dtype));
  const double mean_magnitude = call.supervised > 0 ? magnitude / static_cast<double>(call.supervised) : 0;
  call.bound = unit * (static_cast<double>(classes + rows) / 8 + 16) * (std::fabs(call.mean()) + 1) +
               (stored + 4 * unit) * (mean_magnitude + std::fabs(call.mean()));
  return call;
}

}  // namespace plumbline::checks
