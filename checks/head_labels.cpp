#include "checks/head_labels.hpp"

#include <algorithm>

namespace plumbline::checks {
namespace {

// Labels that the model was given in the pass that this head belongs to: they are captured when the model is done.
const Capture* labels_of_model(const reader::RunCaptures& captures, const Capture& labels) {
  for (const Capture* one : captures.select("labels", labels.step, {}, labels.rank)) {
    if (one->time_ns >= labels.time_ns && one->name != "cross_entropy" && one->name != "nll_loss") return one;
  }
  return nullptr;
}

// What each place predicts: as given, or without the first of each row where the head does not see the last one.
std::vector<double> shifted(const std::vector<double>& values, std::size_t length, std::size_t by) {
  std::vector<double> result;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (i % length >= by) result.push_back(values[i]);
  }
  return result;
}

// Where a label counts it is the head's own.
bool agrees_by_row(const std::vector<double>& all, const std::vector<double>& head, double ignored) {
  if (all.size() != head.size()) return false;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i] != ignored && all[i] != head[i]) return false;
  }
  return true;
}

// The head was given those that count, in their order.
bool agrees_without_others(std::vector<double> all, const std::vector<double>& head, double ignored) {
  std::erase(all, ignored);
  return all == head;
}

}  // namespace

HeadRows head_rows(CaptureLoader& loader, const reader::RunCaptures& captures, const Capture& labels,
                   double ignore_index) {
  HeadRows rows;
  rows.labels = loader.values(&labels);
  for (const double label : rows.labels) rows.supervised.push_back(label != ignore_index);
  rows.all = rows.labels;
  const Capture* const given = labels_of_model(captures, labels);
  const std::size_t length = given == nullptr || given->shape.empty() ? 0 : given->shape.back();
  const std::vector<double> values = loader.values(given);
  if (length == 0 || values.size() != given->elements()) return rows;
  for (const std::size_t by : {1, 0}) {
    const std::vector<double> all = shifted(values, length, by);
    const bool by_row = agrees_by_row(all, rows.labels, ignore_index);
    if (!by_row && !agrees_without_others(all, rows.labels, ignore_index)) continue;
    rows.all = all;
    for (std::size_t i = 0; by_row && i < all.size(); ++i) rows.supervised[i] = all[i] != ignore_index;
    break;
  }
  return rows;
}

}  // namespace plumbline::checks
