#include "checks/clip_calls.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include "checks/detail.hpp"
#include "checks/element_values.hpp"

namespace plumbline::checks {
namespace {

// JSON has no infinity: it comes as text.
double number_or_infinity(const Detail& detail, std::string_view key, double otherwise) {
  if (const auto number = detail.number(key)) return *number;
  return detail.text(key) == "inf" ? HUGE_VAL : otherwise;
}

// The calls of one process since its last optimizer step.
class Collector {
 public:
  explicit Collector(const std::map<const Capture*, const CapturedStep*>& steps) : steps_(steps) {}

  void take(const Capture& capture) {
    if (capture.probe == "grad.before_clip") {
      given_[capture.name] = &capture;
    } else if (capture.probe == "clip") {
      call(capture);
    } else if (capture.probe == "optimizer.step") {
      if (const auto at = steps_.find(&capture); at != steps_.end()) settle(*at->second);
    }
  }

  std::vector<ClipCall> settled;

 private:
  void call(const Capture& note) {
    const Detail detail(note.detail);
    ClipCall call;
    call.rank = note.rank;
    call.note = &note;
    call.max_norm = number_or_infinity(detail, "max_norm", std::nan(""));
    call.norm_type = number_or_infinity(detail, "norm_type", 2);
    call.before = std::move(given_);
    given_.clear();
    for (ClipCall& earlier : open_) {
      for (const auto& [name, grad] : call.before) earlier.before.erase(name);
    }
    open_.push_back(std::move(call));
  }

  // Calls whose parameters another optimizer holds wait for its step.
  void settle(const CapturedStep& step) {
    std::set<std::string, std::less<>> held;
    for (const CapturedParameter& parameter : step.parameters) held.insert(parameter.name);
    std::size_t index = 0;
    std::vector<ClipCall> waiting;
    for (ClipCall& call : open_) {
      const bool mine = std::any_of(call.before.begin(), call.before.end(),
                                    [&](const auto& one) { return held.contains(one.first); });
      if (mine) {
        call.step = &step;
        call.index = index++;
        settled.push_back(std::move(call));
      } else if (!call.before.empty()) {
        waiting.push_back(std::move(call));
      }
    }
    open_ = std::move(waiting);
  }

  const std::map<const Capture*, const CapturedStep*>& steps_;
  std::map<std::string, const Capture*> given_;
  std::vector<ClipCall> open_;
};

// Elements of a capture at the places of a sample; of one that is a sample itself only where its places are the same.
std::vector<double> values_at(CaptureLoader& loader, const Capture& capture, const std::vector<std::uint64_t>& places) {
  std::vector<double> values = loader.values(&capture);
  if (capture.indices == places) return values;
  if (!capture.indices.empty() || places.empty() || places.back() >= values.size()) return {};
  std::vector<double> chosen;
  chosen.reserve(places.size());
  for (const std::uint64_t place : places) chosen.push_back(values[place]);
  return chosen;
}

}  // namespace

std::vector<ClipCall> clip_calls(const reader::RunCaptures& captures, const std::vector<CapturedStep>& steps) {
  std::map<const Capture*, const CapturedStep*> by_note;
  for (const CapturedStep& step : steps) by_note[step.note] = &step;
  std::vector<ClipCall> calls;
  for (const reader::CaptureFile& file : captures.files()) {
    Collector collector(by_note);
    for (const Capture& capture : file.captures()) collector.take(capture);
    for (ClipCall& call : collector.settled) calls.push_back(std::move(call));
  }
  return calls;
}

std::vector<ClipCall> clips_by_hand(const reader::RunCaptures& captures, const std::vector<CapturedStep>& steps,
                                    const std::vector<ClipCall>& calls) {
  std::map<const Capture*, const CapturedStep*> by_note;
  for (const CapturedStep& step : steps) by_note[step.note] = &step;
  for (const ClipCall& call : calls) by_note.erase(call.step->note);
  std::vector<ClipCall> found;
  for (const reader::CaptureFile& file : captures.files()) {
    std::map<std::string, const Capture*> left;  // by the last backward() since the step before
    for (const Capture& capture : file.captures()) {
      if (capture.probe == "grad.backward") left[capture.name] = &capture;
      if (capture.probe != "optimizer.step") continue;
      const auto at = by_note.find(&capture);
      if (at == by_note.end()) continue;
      ClipCall call;
      call.rank = capture.rank;
      call.note = &capture;
      call.step = at->second;
      call.max_norm = std::nan("");
      for (const CapturedParameter& parameter : call.step->parameters) {
        if (auto grad = left.extract(parameter.name)) call.before.insert(std::move(grad));
      }
      found.push_back(std::move(call));
    }
  }
  return found;
}

std::optional<double> factor_between(CaptureLoader& loader, const Capture* before, const Capture* after) {
  if (before == nullptr || after == nullptr) return std::nullopt;
  const std::vector<double> x = loader.values(before);
  const std::vector<double> y = values_at(loader, *after, before->indices);
  if (x.empty() || x.size() != y.size()) return std::nullopt;
  double product = 0;
  double square = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    product += x[i] * y[i];
    square += x[i] * x[i];
  }
  if (!(square > 0) || !std::isfinite(square)) return std::nullopt;
  const double factor = product / square;
  const double unit = std::max(unit_roundoff(before->dtype), unit_roundoff(after->dtype));
  const double floor = std::max(underflow_error(before->dtype), underflow_error(after->dtype));
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (!(std::fabs(y[i] - factor * x[i]) <= 4 * unit * std::fabs(factor * x[i]) + 2 * floor)) return std::nullopt;
  }
  return factor;
}

std::optional<double> clip_factor(CaptureLoader& loader, const ClipCall& call) {
  std::optional<double> common;
  const double tolerance = clip_tolerance(call);
  for (const auto& [name, before] : call.before) {
    const CapturedParameter* parameter = call.step->find(name);
    if (parameter == nullptr || norm_of(loader, before, HUGE_VAL).value_or(1) == 0) continue;
    const auto factor = factor_between(loader, before, parameter->grad);
    if (!factor) return std::nullopt;
    if (common && std::fabs(*factor - *common) > tolerance * std::fabs(*common)) return std::nullopt;
    if (!common) common = factor;
  }
  return common;
}

double clip_tolerance(const ClipCall& call) {
  double unit = 0;
  for (const auto& [name, before] : call.before) unit = std::max(unit, unit_roundoff(before->dtype));
  // What is left is the order of the sum over blocks.
  return 8 * unit + 1e-5;
}

double clip_norm_tolerance(const ClipCall& call) {
  double sum = 0;
  for (const auto& [name, before] : call.before) {
    // Narrow types are added up in float32, in eight lanes at least.
    const double unit = before->dtype == recorder::Dtype::kFloat64 ? 0x1p-53 : 0x1p-24;
    sum = std::max(sum, unit * static_cast<double>(before->elements()) / 8);
  }
  // The root of a sum that is off by a share is off by that share over the root's degree; a maximum is exact.
  return clip_tolerance(call) + (std::isfinite(call.norm_type) ? sum / std::max(call.norm_type, 1.0) : 0);
}

std::optional<double> norm_of(CaptureLoader& loader, const Capture* grad, double norm_type) {
  if (grad == nullptr || grad->captured() != grad->elements()) return std::nullopt;
  if (grad->elements() == 0) return 0;
  const std::vector<double> values = loader.values(grad);
  if (values.size() != grad->elements()) return std::nullopt;
  return joined_norm(values, norm_type);
}

double joined_norm(const std::vector<double>& parts, double norm_type) {
  double largest = 0;
  for (const double part : parts) {
    if (!(std::fabs(part) <= largest)) largest = std::fabs(part);
  }
  if (std::isinf(norm_type) || !(largest > 0) || !std::isfinite(largest)) return largest;
  double sum = 0;
  for (const double part : parts) {
    const double share = std::fabs(part) / largest;
    sum += norm_type == 2 ? share * share : std::pow(share, norm_type);
  }
  return largest * std::pow(sum, 1 / norm_type);
}

}  // namespace plumbline::checks
