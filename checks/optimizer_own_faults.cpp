#include "checks/optimizer_own_faults.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "checks/element_values.hpp"
#include "checks/optimizer_recompute.hpp"

namespace plumbline::checks {
namespace {

// The elements around a place, as a tensor of their own where the rule allows it.
ParameterData around(const ParameterData& data, std::size_t place, std::size_t& first) {
  constexpr std::size_t kElements = 1024;
  first = 0;
  if (!data.rule->elementwise) return data;
  const std::size_t whole = data.before.count();
  const std::size_t count = std::min(whole, kElements);
  first = std::min(place - std::min(place, count / 2), whole - count);
  ParameterData part = data;
  for (RawTensor* tensor : part.tensors()) {
    if (tensor->there()) *tensor = tensor->slice(first, count);
  }
  return part;
}

}  // namespace

SelfTest self_test(const ParameterContext& context, const CapturedParameter& parameter, std::size_t place) {
  std::string why;
  const auto data = load_parameter(*context.loader, *context.step, parameter, *context.rule, why);
  if (!data || place >= data->before.count()) return {};
  SelfTest result;
  std::size_t first = 0;
  ParameterData spoilt = around(*data, place, first);
  evaluate_as_set(spoilt);
  Hypothesis off(spoilt);
  off.settings.lr *= is_narrow(data->before.dtype()) ? 2 : 1.01;
  result.rate = !evaluate(spoilt, off).agrees();
  double bound = 0;
  predict(spoilt, Hypothesis(spoilt), [&](const RuleInputs&, const Predicted& predicted, std::size_t from) {
    if (place - first >= from && place - first < from + predicted.param.size())
      bound = predicted.param[place - first - from].error;
  });
  std::vector<double> value;
  spoilt.after.decode(place - first, 1, value);
  spoilt.after.store(place - first, value.front() + 4 * bound);
  result.element = !evaluate(spoilt, Hypothesis(spoilt)).agrees();
  return result;
}

}  // namespace plumbline::checks
