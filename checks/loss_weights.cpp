#include "checks/loss_weights.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "checks/element_values.hpp"

namespace plumbline::checks {
namespace {

using Key = std::tuple<std::int64_t, int, std::string, std::uint32_t>;

struct Given {
  std::vector<double> values;  // one, or one a row
  double unit = 0;
};

std::map<Key, Given> given_gradients(CaptureLoader& loader, const reader::RunCaptures& captures) {
  std::map<Key, Given> all;
  for (const std::int64_t step : captures.steps()) {
    for (const Capture* capture : captures.select("loss.grad", step)) {
      const std::vector<double> values = loader.values(capture);
      if (values.empty() || values.size() != capture->elements()) continue;
      Given& given = all[{capture->step, capture->rank, capture->name, capture->occurrence}];
      // Of a graph that backward() goes through twice, both count.
      if (given.values.empty()) given.values.resize(values.size());
      for (std::size_t i = 0; i < values.size() && given.values.size() == values.size(); ++i)
        given.values[i] += values[i];
      given.unit = std::max(given.unit, unit_roundoff(capture->dtype));
    }
  }
  return all;
}

bool near(double a, double b, double error) { return std::fabs(a - b) <= error * std::max(std::fabs(a), std::fabs(b)); }

// Tokens that follow each other with the same weight.
struct Stretch {
  double weight;
  std::size_t tokens;
};

// How many means the stretches are, if each has the same part in the sum; neighbours of the same length look like one.
// 0: they are no means.
std::size_t means_in(const std::vector<Stretch>& stretches, double error) {
  double part = 0;
  for (const Stretch& one : stretches) {
    const double here = one.weight * static_cast<double>(one.tokens);
    part = part == 0 ? here : std::min(part, here);
  }
  if (part <= 0) return 0;
  std::size_t means = 0;
  for (const Stretch& one : stretches) {
    const double times = one.weight * static_cast<double>(one.tokens) / part;
    const auto whole = static_cast<std::size_t>(std::llround(times));
    if (!near(times, static_cast<double>(whole), 4 * error) || one.tokens % whole != 0) return 0;
    means += whole;
  }
  return means;
}

void by_row(const std::vector<double>& given, double scale, LossCall& call, LossWeight& weight) {
  std::vector<Stretch> stretches;
  call.sum = 0;
  call.supervised = 0;
  for (std::size_t i = 0; i < given.size(); ++i) {
    const double one = given[i] * scale;
    if (one == 0 || call.label_values[i] == call.ignore_index) continue;
    call.sum += call.row_losses[i];
    weight.sum += one * call.row_losses[i];
    weight.least = call.supervised == 0 ? one : std::min(weight.least, one);
    weight.most = call.supervised == 0 ? one : std::max(weight.most, one);
    ++call.supervised;
    if (stretches.empty() || !near(stretches.back().weight, one, weight.error)) stretches.push_back({one, 0});
    ++stretches.back().tokens;
  }
  if (near(weight.least, weight.most, weight.error)) return;
  weight.stretches = means_in(stretches, weight.error);
  weight.kind = weight.stretches > 1 ? LossWeight::Kind::kByStretch : LossWeight::Kind::kByToken;
}

void weigh(const Given& given, LossCall& call) {
  if (call.smoothing >= 1) return;
  LossWeight weight;
  // Factors of the job's own, each rounded.
  weight.error = 8 * given.unit;
  const double scale = 1 / (1 - call.smoothing);
  if (call.reduction == "none") {
    if (given.values.size() != call.rows || call.row_losses.size() != call.rows) return;
    by_row(given.values, scale, call, weight);
  } else {
    if (given.values.size() != 1) return;
    const double whole = given.values.front() * scale;
    const auto tokens = static_cast<double>(call.supervised);
    weight.least = weight.most = call.reduction == "sum" ? whole : call.supervised > 0 ? whole / tokens : 0;
    weight.sum = weight.most * call.sum;
  }
  call.weight = weight;
}

}  // namespace

void weigh_losses(CaptureLoader& loader, const reader::RunCaptures& captures, std::vector<LossCall>& calls) {
  const std::map<Key, Given> given = given_gradients(loader, captures);
  for (LossCall& call : calls) {
    const auto at = given.find({call.step, call.rank, call.name, call.occurrence});
    if (at != given.end()) weigh(at->second, call);
  }
}

std::vector<const LossCall*> training_losses(const std::vector<LossCall>& calls) {
  struct Known {
    bool weights = false;
    bool recomputed = false;
    bool train = false;
  };
  std::map<std::pair<int, std::int64_t>, Known> known;
  for (const LossCall& call : calls) {
    Known& here = known[{call.rank, call.step}];
    here.weights = here.weights || call.weight;
    here.recomputed = here.recomputed || (call.trains && !call.graph);
    here.train = here.train || (call.trains && call.reduction != "none");
  }
  std::vector<const LossCall*> training;
  for (const LossCall& call : calls) {
    const Known& here = known.at({call.rank, call.step});
    const bool by_weight = here.weights && !here.recomputed;
    const bool counts = by_weight ? call.weight && (call.weight->least != 0 || call.weight->most != 0)
                                  : (call.trains || !here.train) && call.reduction != "none";
    if (counts) training.push_back(&call);
  }
  return training;
}

}  // namespace plumbline::checks
