#include "checks/fused_head.hpp"

#include <algorithm>
#include <cmath>

#include "checks/detail.hpp"
#include "checks/element_values.hpp"
#include "checks/head_labels.hpp"
#include "checks/head_logits.hpp"

namespace plumbline::checks {
namespace {

// Multiplications of one call: seconds. Of a larger one each token's own loss is looked at for some tokens only.
constexpr double kMostWork = 0x1p33;
constexpr double kUnit = 0x1p-24;

bool is_whole(const Capture* capture) { return capture != nullptr && capture->captured() == capture->elements(); }

struct Parts {
  const Capture* hidden = nullptr;
  const Capture* weight = nullptr;
  const Capture* bias = nullptr;
  const Capture* labels = nullptr;
  const Capture* result = nullptr;
  double sign = 1;  // of the result: -1 for log-probabilities
};

Parts parts_of(const reader::RunCaptures& captures, const Capture& hidden, const Detail& detail) {
  const auto of = [&](const char* probe, std::uint32_t number) {
    return captures.find(probe, hidden.step, hidden.name, hidden.rank, number);
  };
  Parts parts;
  parts.hidden = &hidden;
  parts.weight = of("head.weight", static_cast<std::uint32_t>(detail.number("weight").value_or(hidden.occurrence)));
  parts.bias = of("head.bias", hidden.occurrence);
  parts.labels = of("head.labels", hidden.occurrence);
  for (const char* probe : {"loss", "token_loss", "token_logprob"}) {
    if (parts.result == nullptr) parts.result = of(probe, hidden.occurrence);
  }
  if (parts.result != nullptr && parts.result->probe == "token_logprob") parts.sign = -1;
  return parts;
}

// Empty when they can be put together.
std::string misfit(const Parts& parts, const HeadSettings& settings) {
  const bool whole = is_whole(parts.hidden) && is_whole(parts.weight) && is_whole(parts.labels) &&
                     is_whole(parts.result) && (parts.bias == nullptr || is_whole(parts.bias));
  if (!whole) return "of a fused head hidden states, weight, labels or result were not captured whole";
  const std::size_t width = parts.hidden->shape.empty() ? 0 : parts.hidden->shape.back();
  const bool fits = parts.weight->shape.size() == 2 && width > 0 && parts.weight->shape.back() == width &&
                    parts.labels->elements() * width == parts.hidden->elements() && parts.labels->elements() > 0 &&
                    (parts.bias == nullptr || parts.bias->elements() == parts.weight->shape.front()) &&
                    is_floating(parts.hidden->dtype) && is_floating(parts.weight->dtype) &&
                    !is_floating(parts.labels->dtype);
  if (!fits) return "a fused head's weight and labels do not fit its hidden states";
  if (settings.unknown.empty()) return "";
  std::string names;
  for (const std::string& name : settings.unknown) names += (names.empty() ? "" : ", ") + name;
  return "a fused head is given what a plain cross-entropy is not: " + names;
}

double largest(const std::vector<double>& values) { return *std::max_element(values.begin(), values.end()); }

struct RowLoss {
  double value = 0;
  double bound = 0;
};

RowLoss loss_of(const std::vector<double>& logits, double logit_bound, std::size_t label, double smoothing,
                double stored) {
  const double most = largest(logits);
  double sum = 0;
  double total = 0;
  for (const double logit : logits) {
    sum += std::exp(logit - most);
    total += logit;
  }
  const auto classes = static_cast<double>(logits.size());
  const double normalizer = most + std::log(sum);
  const double plain = normalizer - logits[label];
  const double value = (1 - smoothing) * plain + smoothing * (normalizer - total / classes);
  const double magnitude = std::fabs(normalizer) + std::fabs(logits[label]) + std::fabs(value);
  return {value,
          2 * logit_bound + kUnit * (classes / 8 + 16) * (std::fabs(value) + 1) + (stored + 4 * kUnit) * magnitude};
}

// The supervised rows against their own results, or their sum against the only one.
bool judge_rows(const Parts& parts, const HeadSettings& settings, const HeadRows& rows, HeadLogits& logits,
                const std::vector<double>& results, LossCall& call, std::string& why) {
  const bool each = results.size() == rows.labels.size() && parts.result->probe != "loss";
  std::vector<std::size_t> supervised;
  for (std::size_t i = 0; i < rows.labels.size(); ++i) {
    if (rows.supervised[i]) supervised.push_back(i);
  }
  const double work = static_cast<double>(supervised.size()) * static_cast<double>(parts.weight->elements());
  const auto every = static_cast<std::size_t>(std::max(1.0, std::ceil(work / kMostWork)));
  if (every > 1 && !each) {
    why = "a fused head with one result for all of its tokens is too large to be computed again";
    return false;
  }
  const double stored = unit_roundoff(parts.result->dtype);
  std::vector<double> row;
  double sum = 0;
  double bounds = 0;
  double reported = 0;
  call.excess = 0;
  for (std::size_t n = 0; n < supervised.size(); ++n) {
    const std::size_t i = supervised[n];
    if (each) reported += parts.sign * results[i];
    if (n % every != 0) continue;
    const double label = rows.labels[i];
    if (label < 0 || label >= static_cast<double>(logits.classes())) {
      why = "a label is outside of the classes";
      return false;
    }
    const double logit_bound = logits.row(i, row);
    const RowLoss one = loss_of(row, logit_bound, static_cast<std::size_t>(label), settings.label_smoothing, stored);
    sum += one.value;
    bounds += one.bound;
    if (!each) continue;
    const double excess = std::fabs(parts.sign * results[i] - one.value) / one.bound;
    if (excess <= call.excess) continue;
    call.excess = excess;
    call.reported = parts.sign * results[i];
    call.expected = one.value;
  }
  const auto tokens = static_cast<double>(call.supervised);
  if (each || tokens == 0) {
    call.sum = reported;
    return true;
  }
  const double divisor = settings.reduction == "sum" ? 1 : tokens;
  call.reported = results.empty() ? 0 : results.front();
  call.expected = sum / divisor;
  call.excess = std::fabs(call.reported - call.expected) / (bounds / divisor);
  // Of another denominator than its own the sum is the one that was computed here.
  call.sum = call.excess <= 1 ? call.reported * divisor : sum;
  return true;
}

}  // namespace

std::optional<LossCall> recompute_head(CaptureLoader& loader, const reader::RunCaptures& captures,
                                       const Capture& hidden, std::string& why) {
  const Detail detail(hidden.detail);
  const Parts parts = parts_of(captures, hidden, detail);
  const HeadSettings settings = head_settings(detail);
  why = misfit(parts, settings);
  if (!why.empty()) return std::nullopt;
  LossCall call;
  call.rank = hidden.rank;
  call.step = hidden.step;
  call.occurrence = hidden.occurrence;
  call.name = hidden.name;
  call.loss = parts.result;
  call.logits = parts.hidden;
  call.labels = parts.labels;
  call.reduction = settings.reduction;
  call.ignore_index = settings.ignore_index;
  call.trains = detail.flag("requires_grad");
  call.is_loss = parts.result->probe == "loss";

  const RawTensor states = loader.load(parts.hidden);
  const RawTensor weight = loader.load(parts.weight);
  const RawTensor bias = loader.load(parts.bias);
  const std::vector<double> results = loader.values(parts.result);
  const HeadRows rows = head_rows(loader, captures, *parts.labels, settings.ignore_index);
  if (states.count() != parts.hidden->elements() || weight.count() != parts.weight->elements() || rows.labels.empty()) {
    why = "what a fused head was given could not be read";
    return std::nullopt;
  }
  if (results.size() != 1 && results.size() != rows.labels.size()) {
    why = "a fused head gives neither one loss nor one for each token";
    return std::nullopt;
  }
  call.rows = rows.all.size();
  call.label_values = rows.all;
  call.supervised = static_cast<std::size_t>(std::count(rows.supervised.begin(), rows.supervised.end(), true));
  HeadLogits logits(states, weight, bias, parts.hidden->shape.back(), settings, detail);
  if (!judge_rows(parts, settings, rows, logits, results, call, why)) return std::nullopt;
  call.bound = (kUnit * (static_cast<double>(call.rows) / 8 + 16) + unit_roundoff(parts.result->dtype)) *
               (std::fabs(call.mean()) + 1);
  return call;
}

}  // namespace plumbline::checks
